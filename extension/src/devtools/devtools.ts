chrome.devtools.panels.create('hopwise', 'icons/32.png', 'panel.html');
