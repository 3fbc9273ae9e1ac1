//! The module of the Worker's wasm that `src/central.js` loads when it is first asked for: the
//! objects that exist once, and the management surface. All of it stands in the package
//! `waiting-room`, below its feature `central`.

use waiting_room as _;
