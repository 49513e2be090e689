/** A failure that one sentence explains; scripts/setup.mjs prints it and exits with 1. */
export function setupError(sentence) {
  return Object.assign(new Error(sentence), { name: 'SetupError' });
}
