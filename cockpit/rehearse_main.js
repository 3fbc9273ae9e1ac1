// The simulator's thread in the browser: it plays a plan or fills the report. It is a file of its
// own with the simulator in it, which only the screen *Rehearse* loads, and it loads nothing more.
import * as simulator from "../build/rehearsal/rehearsal.js";
import packed from "../build/rehearsal/rehearsal_bg.wasm";
import page from "../build/rehearsal/report.html";
import { answerTo } from "../scripts/rehearse/answerer.mjs";
import { reportOf } from "../scripts/rehearse/page.mjs";

const post = (message) => self.postMessage(message);

self.onmessage = async ({ data }) => {
  try {
    post(await answer(data));
  } catch (error) {
    post({ failed: `${error}` });
  }
};

async function answer(question) {
  if (question.rehearsal) return { report: reportOf(page, question.rehearsal) };
  simulator.initSync({ module: await unpacked() });
  return answerTo(question, simulator, post);
}

function unpacked() {
  const unpacking = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacking).arrayBuffer();
}
