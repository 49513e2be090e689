/**
 * How much of their random cases the property tests try: a tenth, unless PROPERTY_SHARE says otherwise. The system run
 * sets it to 1, so that `npm test` is quick and no case is lost. 5 tries five times as many, to look for rare faults.
 */
const SHARE = Number(process.env.PROPERTY_SHARE ?? 0.1);

/** The fewest cases that are worth their setup: a property that has no more of them always tries all. */
const FEWEST = 10;

/**
 * The number of cases that a property tries in this run (`numRuns` of fast-check).
 *
 * @param all how many it tries in the system run
 */
export function runs(all: number): number {
  return Math.max(Math.min(all, FEWEST), Math.round(all * SHARE));
}
