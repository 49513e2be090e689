/** Waits until something is so; the test's own time limit ends the wait. Gives what it was. */
export async function eventually<Value>(
  look: () => Value | Promise<Value>,
  isSo: (value: Value) => boolean = Boolean,
): Promise<Value> {
  for (;;) {
    const value = await look();
    if (isSo(value)) return value;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
