// Entry: preferences and address first, then the first paint, then the box.
import { render } from 'preact';
import './ui/tokens.css';
import './ui/base.css';
import { App } from './app';
import { start } from './lib/boot';
import { useLocale } from './lib/messages';
import { startPrefs, wantsPseudoLocale } from './lib/prefs';
import { startRouter } from './lib/router';

startPrefs();
if (wantsPseudoLocale()) useLocale('pseudo');
startRouter();
start();
render(<App />, document.getElementById('app')!);
