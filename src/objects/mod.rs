//! The Durable Object shells: decode one message, call the machine once, perform its turn.

use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::worker_sys::DurableObjectState;

macro_rules! shell {
    ($name:ident) => {
        /// A shell without a machine.
        #[wasm_bindgen]
        pub struct $name {}

        #[wasm_bindgen]
        impl $name {
            /// Made anew after each restart of the object or of the wasm instance.
            #[wasm_bindgen(constructor)]
            pub fn new(_state: DurableObjectState, _env: Env) -> Self {
                Self {}
            }

            /// Answers one message.
            pub async fn call(&self, message: String) -> String {
                #[cfg(feature = "panic-hook-tests")]
                crate::panic_hooks::object(&message).await;
                std::future::ready(message).await
            }

            /// The wake-up that the machine asked for.
            pub async fn alarm(&self) {
                std::future::ready(()).await;
            }
        }
    };
}

shell!(DataCenterCounter);
shell!(DataCenterAggregator);
shell!(GlobalAggregator);
