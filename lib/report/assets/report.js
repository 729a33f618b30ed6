(() => {
  'use strict';
  const list = document.getElementById('list');
  const blocks = [...list.querySelectorAll('.block')];
  const rows = blocks.flatMap((b) => [...b.children].map((row) => ({ row, block: b, text: null })));
  const text = document.getElementById('text');
  const outcome = document.getElementById('outcome');
  const found = document.getElementById('found');

  const fits = (o, want) => want === '' || (want === '!right' ? o !== 'right' : o === want);

  function apply() {
    const words = text.value.toLowerCase();
    const want = outcome.value;
    const seen = new Set();
    let n = 0;
    for (const r of rows) {
      let show = fits(r.row.dataset.o, want);
      if (show && words !== '') {
        if (r.text === null) r.text = r.row.textContent.toLowerCase();
        show = r.text.includes(words);
      }
      if (r.row.hidden === show) r.row.hidden = !show;
      if (show) {
        n++;
        seen.add(r.block);
      }
    }
    for (const b of blocks) b.hidden = !seen.has(b);
    found.textContent = n.toLocaleString('en') + ' of ' + rows.length.toLocaleString('en') + ' tasks';
    list.scrollTop = 0;
  }

  let due = 0;
  const soon = () => {
    clearTimeout(due);
    due = setTimeout(apply, 120);
  };

  function open() {
    const row = /^#t\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!row) return;
    row.open = true;
    row.scrollIntoView({ block: 'nearest' });
  }

  function step(by) {
    const shown = rows.filter((r) => !r.row.hidden).map((r) => r.row.firstElementChild);
    const at = shown.indexOf(document.activeElement);
    const next = shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next) next.focus();
  }

  function keys(e) {
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (typing && e.key === 'Escape') e.target.blur();
    if (typing) return;
    if (e.key === '/') {
      e.preventDefault();
      text.focus();
    }
    if (e.key === 'j') step(1);
    if (e.key === 'k') step(-1);
  }

  document.getElementById('find').hidden = false;
  text.addEventListener('input', soon);
  outcome.addEventListener('change', apply);
  addEventListener('hashchange', open);
  addEventListener('keydown', keys);
  apply();
  open();
})();
