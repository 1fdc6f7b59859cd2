// Runs before anything is drawn, so that neither colours nor language change under the reader's eyes.
(function () {
  var root = document.documentElement;
  var scheme = null;
  var language = null;
  try {
    scheme = localStorage.getItem('roost.scheme');
    language = localStorage.getItem('roost.language');
  } catch (refused) {
    // Storage may be forbidden; then the browser's own wishes hold.
  }
  if (scheme !== 'light' && scheme !== 'dark') {
    scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }
  root.setAttribute('data-mantine-color-scheme', scheme);
  if (language !== 'en' && language !== 'zh') {
    language = /^zh/i.test(navigator.language) ? 'zh' : 'en';
  }
  root.lang = language === 'zh' ? 'zh-CN' : 'en';
})();
