/** The reasons of commands, which no client meets over HTTP. */
export const commandReasons = {};
