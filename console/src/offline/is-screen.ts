/** Whether a path belongs to a screen of the console, rather than to the services or to the server itself. */
export function isScreen(path: string): boolean {
  return !/^\/(packet|trace|basemap|health)(\/|$)/.test(path);
}
