/** How the rows of attacks name tests that stand elsewhere: by their file and titles. */

const inFolder = (folder) => (name, ...titles) =>
  titles.map((title) => ({ file: `tests/${folder}/${name}.test.mjs`, title }));

/** Tests in workerd. */
export const workerd = inFolder("workerd");
/** Tests in browsers. */
export const browser = inFolder("browser");
/** Tests with official clients. */
export const clients = inFolder("clients");
/** Tests of the server on an owner's machine. */
export const own = inFolder("own");
/** Tests without a Worker. */
export const scripts = inFolder("scripts");
/** Tests of the transparency log's module. */
export const ofLog = (name, ...titles) =>
  titles.map((title) => ({ file: `transparency/src/${name}.rs`, title }));
/** Tests of the core. */
export const native = (name, ...titles) =>
  titles.map((title) => ({ file: `room-core/${name}.rs`, title }));
