/** The reasons of the server of the console. */
export const consoleReasons = {};
