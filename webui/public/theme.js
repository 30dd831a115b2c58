// Runs before the first paint, so that a dark page never flashes white. src/lib/theme.ts takes over afterwards.
(function () {
  var choice = 'system';
  try {
    choice = localStorage.getItem('samovar.theme') || 'system';
  } catch (error) {
    // Storage can be switched off; the system's choice is then right.
  }
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
