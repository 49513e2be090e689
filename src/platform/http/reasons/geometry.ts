/** The reasons of boundaries, positions and boxes. */
export const geometryReasons = {};
