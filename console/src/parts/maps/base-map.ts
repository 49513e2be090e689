/** The last zoom of the tiles of land, water and borders; beyond it they are drawn larger. */
export const BASE_MAP_ZOOM = 6;
/** The zoom of the tiles with all places. Before it, tiles have those that are drawn. */
export const PLACES_ZOOM = 7;
