/** A user who has a contact, and whether they want to be found. */
export interface Holder {
  userId: string;
  discoverable: boolean;
}

/** The user registry's information about a contact. */
export interface Registered {
  /** the user who has it; undefined if nobody is known to have it */
  holder: Holder | undefined;
  /** whether the registry has answered, or there is none to ask */
  isAnswered: boolean;
}

/** The directory's information about a contact. */
export interface Entered {
  /** the user who has proven it with a token */
  proven: (Holder & { byRegistry: boolean }) | undefined;
  /** the user who has entered it without one */
  claimed: Holder | undefined;
}

/** The user to whom a contact leads. */
export interface KnownHolder extends Holder {
  /** false if anybody may have entered it: then it is good for what is shared without a token alone */
  isProven: boolean;
}

/**
 * The user to whom a contact leads: the one who has it in the user registry, else the one who has proven it, else one
 * who claims it, unless the registry did not answer. The entry of the user whom the registry names says whether they
 * want to be found.
 */
export function holderOf(
  { holder: registered, isAnswered }: Registered,
  { proven, claimed }: Entered,
): KnownHolder | undefined {
  // A contact that the registry has proven is the user's no longer when the registry does not know it any more.
  const isOver = proven?.byRegistry === true && isAnswered && registered === undefined;
  const own = isOver ? undefined : proven;
  const known = registered && registered.userId !== own?.userId ? registered : own;
  if (known) return { userId: known.userId, discoverable: known.discoverable, isProven: true };
  return claimed && isAnswered ? { ...claimed, isProven: false } : undefined;
}
