/**
 * Has the service worker store the files of the console, so that it opens without a connection. Browsers have service
 * workers only on https and on localhost. A worker of a newer build waits until this says that its page is of that
 * build, or until no page is open: a page always gets the files of its own build.
 *
 * @param entry the path of the page's script
 */
export async function storeForOffline(entry: string): Promise<void> {
  if (!import.meta.env.PROD || !navigator.serviceWorker) return;
  const registration = await navigator.serviceWorker.register('/service-worker.js');
  // A browser that refuses gives none.
  if (!registration) return;
  const offer = () => registration.waiting?.postMessage(entry);
  const watch = () => registration.installing?.addEventListener('statechange', offer);
  registration.addEventListener('updatefound', watch);
  watch();
  offer();
}
