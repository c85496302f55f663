/** The page that a browser opens; what it shows is written by page/main.ts. */
export const PAGE_DOCUMENT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Assay</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 42rem; margin: 4rem auto; padding: 0 1.5rem; }
  h1 { font-size: 1.25rem; margin: 0 0 1.5rem; }
  #state { font-size: 1.5rem; margin: 0; }
  #note { margin: .25rem 0 2rem; opacity: .75; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; }
  dt { opacity: .65; }
  dd { margin: 0; overflow-wrap: anywhere; }
</style>
<h1>Assay tests models in this browser</h1>
<p id="state">Loading …</p>
<p id="note">Leave this page open and in front; nothing leaves this machine.</p>
<dl id="facts"></dl>
<noscript>This page needs JavaScript.</noscript>
<script type="module" src="/assay/main.js"></script>
</html>
`
