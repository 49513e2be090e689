/**
 * Waits until something is so; the test's own time limit ends the wait. Gives what it was. It looks less often the
 * longer it takes, so that looking does not slow down what is waited for.
 */
export async function eventually<Value>(
  look: () => Value | Promise<Value>,
  isSo: (value: Value) => boolean = Boolean,
): Promise<Value> {
  for (let pause = 20; ; pause = Math.min(pause * 1.25, 100)) {
    const value = await look();
    if (isSo(value)) return value;
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}
