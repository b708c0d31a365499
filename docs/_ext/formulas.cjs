// Typesets every formula of the built pages with the MathJax that they use: node formulas.cjs PAGES MATHJAX; fails where TeX is wrong.
const fs = require("fs"), path = require("path");
const [pages, mathjax] = process.argv.slice(2);
const files = fs.readdirSync(pages, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const plain = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&#39;|&#x27;/g, "'").replace(/&quot;/g, '"').replace(/&amp;/g, "&");
const found = [];
let config = {};
for (const file of files) {
  const html = fs.readFileSync(path.join(pages, file), "utf8");
  const own = html.match(/window\.MathJax = (\{.*?\})<\/script>/s);
  if (own) config = JSON.parse(own[1]);
  for (const m of html.matchAll(/<(?:span|div) class="(?:[^"]* )?math(?: [^"]*)?"[^>]*>(.*?)<\/(?:span|div)>/gs)) {
    const text = plain(m[1].replace(/<span class="eqno">.*?<\/span>/gs, "")).trim();
    const inner = text.match(/^\\\((.*)\\\)$/s), display = text.match(/^\\\[(.*)\\\]$/s);
    found.push({ file, tex: inner ? inner[1] : display ? display[1] : text, display: !inner });
  }
}
require(path.resolve(mathjax, "es5", "node-main.js")).init({ loader: { load: ["input/tex-full", "output/svg"] }, tex: { ...config.tex, packages: { "[-]": ["noerrors", "noundefined"] } } }).then((MathJax) => {
  let bad = 0;
  for (const { file, tex, display } of found) {
    const error = MathJax.startup.adaptor.outerHTML(MathJax.tex2svg(tex, { display })).match(/data-mjx-error="([^"]*)"/);
    if (error) { bad += 1; console.error(`${file}: ${error[1]} in ${tex.trim().slice(0, 200)}`); }
  }
  if (found.length && !bad) console.log(`${found.length} formulas typeset`);
  if (!found.length) console.error(`there are no formulas in ${pages}`);
  process.exitCode = bad || !found.length ? 1 : 0;
}).catch((problem) => { console.error(String(problem)); process.exitCode = 1; });
