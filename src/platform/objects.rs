//! Durable Objects: how they are called, what an object knows of itself, and the classes that the
//! entry makes.

use std::future::Future;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::js_sys::Reflect;
use worker::worker_sys::DurableObjectState;
use worker::{Env, ObjectNamespace, State};

use super::storage::{ObjectStorage, Sql};

#[wasm_bindgen]
extern "C" {
    /// The objects of a class.
    type Namespace;

    /// Returns the objects of the class that stay in a jurisdiction.
    #[wasm_bindgen(method, catch)]
    fn jurisdiction(this: &Namespace, name: &str) -> Result<Namespace, JsValue>;

    /// An object as an RPC target: the class in `src/entry.js`.
    type ObjectStub;

    /// Sends a message with the object's own name. In a cluster workerd does not tell the name to
    /// an object that a call from another process has begun.
    #[wasm_bindgen(method, catch)]
    async fn call(this: &ObjectStub, message: &str, name: &str) -> Result<JsValue, JsValue>;
}

/// Which object is meant, and where Cloudflare places it at its first call.
#[derive(Clone, Copy)]
pub struct Address<'a> {
    /// The binding of its class.
    pub binding: &'a str,
    /// Its name in the class.
    pub name: &'a str,
    /// The jurisdiction in which it stays.
    pub jurisdiction: Option<&'a str>,
    /// The region in which it begins; near the caller without one.
    pub hint: Option<&'a str>,
}

impl Address<'_> {
    /// Returns the id of the object, which no other deployment has.
    pub fn id(&self, env: &Env) -> Option<String> {
        Some(self.namespace(env)?.id_from_name(self.name).ok()?.to_string())
    }

    /// Sends the object a message, and returns its answer. `None` if it fails. The platform may ask
    /// to repeat a call, since the object has moved. It is then made once more.
    pub async fn call(&self, env: &Env, message: &str) -> Option<String> {
        let namespace = self.namespace(env)?;
        // A stub that has failed stays broken, so each call has its own.
        let stub = || {
            let stub = match self.hint {
                Some(hint) => namespace.get_by_name_with_location_hint(self.name, hint),
                None => namespace.get_by_name(self.name),
            };
            Some(stub.ok()?.into_rpc::<ObjectStub>())
        };
        let answer = match stub()?.call(message, self.name).await {
            Err(error) if is_retryable(&error) => stub()?.call(message, self.name).await,
            first => first,
        };
        answer.ok()?.as_string()
    }

    fn namespace(&self, env: &Env) -> Option<ObjectNamespace> {
        let all = env.durable_object(self.binding).ok()?;
        let Some(name) = self.jurisdiction else { return Some(all) };
        let within = JsValue::from(all).unchecked_into::<Namespace>().jurisdiction(name).ok()?;
        Some(ObjectNamespace::unchecked_from_js(within.into()))
    }
}

/// Whether the platform says that the same call may succeed. An overloaded object says so too, and
/// must not be asked again.
fn is_retryable(error: &JsValue) -> bool {
    let says = |name| Reflect::get(error, &JsValue::from_str(name)).is_ok_and(|it| it.is_truthy());
    says("retryable") && !says("overloaded")
}

/// An object's own side of the platform: its name, lifetime and storage.
pub struct ObjectState(State);

impl From<DurableObjectState> for ObjectState {
    fn from(state: DurableObjectState) -> Self {
        Self(State::from(state))
    }
}

impl ObjectState {
    /// Returns the name of the object, if the platform tells it.
    pub fn own_name(&self) -> Option<String> {
        self.0.id().name()
    }

    /// Does work that goes on when the caller whose request began it has gone away.
    pub fn detach(&self, work: impl Future<Output = ()> + 'static) {
        self.0.wait_until(work);
    }

    /// Returns the SQL tables.
    pub fn sql(&self) -> Sql {
        self.0.storage().sql().into()
    }

    /// Returns the values by key, and what makes transactions; `None` if the platform has none.
    pub fn storage(&self) -> Option<ObjectStorage> {
        self.raw().storage().ok().map(JsCast::unchecked_into)
    }

    /// The platform's own object, for scripts.
    pub(super) fn raw(&self) -> &DurableObjectState {
        self.0.as_raw()
    }
}

/// Makes the class for the platform around an object. It must have `new`, `learn_name` and `call`.
macro_rules! object_class {
    ($(#[$docs:meta])* $name:ident, $object:ty) => {
        $(#[$docs])*
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct $name(std::rc::Rc<$object>);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $name {
            /// Made anew after each restart of the object or of the wasm instance.
            #[wasm_bindgen(constructor)]
            pub fn new(state: worker::worker_sys::DurableObjectState, env: worker::Env) -> Self {
                Self(std::rc::Rc::new(<$object>::new(state.into(), env)))
            }

            /// Answers one message; "" stands for no answer. `name` is the object's own, as the
            /// caller knows it.
            pub async fn call(&self, message: String, name: Option<String>) -> String {
                #[cfg(feature = "panic-hook-tests")]
                crate::panic_hooks::object(&message).await;
                let object = std::rc::Rc::clone(&self.0);
                object.learn_name(name.as_deref());
                let reply = object.call(&message).await;
                reply.map(|reply| room_core::machines::wire::encode(&reply)).unwrap_or_default()
            }
        }
    };
}
pub(crate) use object_class;
