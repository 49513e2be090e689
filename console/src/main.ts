import { mount } from 'svelte';
import './style/fonts.css';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import App from './App.svelte';
import { rememberInstallation } from './api/installation.ts';
import { loadInstanceName } from './api/instance.svelte.ts';
import { loadLanguage } from './messages/messages.svelte.ts';
import { storeForOffline } from './offline/register.ts';

await Promise.all([loadLanguage(), loadInstanceName()]);
mount(App, { target: document.getElementById('app') as HTMLElement });
// Without it the console works as before, with a connection.
Promise.all([storeForOffline(new URL(import.meta.url).pathname), rememberInstallation()]).catch(() => {});
