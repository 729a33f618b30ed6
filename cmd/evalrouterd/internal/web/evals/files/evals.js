(() => {
  'use strict';
  const live = document.getElementById('live');
  const lost = document.getElementById('lost');
  if (!live || !lost || !window.EventSource) return;
  const source = new EventSource(live.dataset.stream);

  // A whole body each time: what it says was escaped where it was made, and a
  // document that is parsed so runs no script.
  source.addEventListener('page', (e) => {
    const made = new DOMParser().parseFromString(JSON.parse(e.data).html, 'text/html');
    live.replaceChildren(...made.body.childNodes);
    lost.hidden = true;
  });
  source.addEventListener('end', () => {
    source.close();
    location.reload();
  });
  source.addEventListener('open', () => { lost.hidden = true; });
  source.addEventListener('error', () => {
    lost.hidden = false;
    // A browser gives up on an answer that is no stream; the page is looked at
    // again then, which says why.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
  });
})();
