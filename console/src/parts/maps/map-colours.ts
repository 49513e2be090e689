import './map-colours.css';

/** The custom properties of map-colours.css, without their prefix. */
export const COLOUR_NAMES = [
  ...([
    'land',
    'green',
    'built',
    'water',
    'shallow',
    'shore',
    'river',
    'border',
    'road',
    'road-edge',
  ] as const),
  ...(['grid', 'text', 'soft', 'water-text', 'halo', 'mark', 'on-mark', 'point', 'chosen', 'edge'] as const),
  ...(['field', 'ink'] as const),
];

/** Colours of maps, as CSS colours without variables. */
export type Colours = Record<(typeof COLOUR_NAMES)[number], string>;

/** How maps look now: in the theme and the font of the page. */
export interface Look {
  colours: Colours;
  /** families of fonts */
  font: readonly string[];
}

/** The look of maps in the theme of the page, light or dark. */
export function currentLook(): Look {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const entries = COLOUR_NAMES.map(name => {
    probe.style.color = `var(--map-${name})`;
    return [name, style.color] as const;
  });
  const font = style.fontFamily.split(',').map(family => family.trim().replaceAll('"', ''));
  probe.remove();
  return { colours: Object.fromEntries(entries) as Colours, font };
}

/** Whether the browser can draw maps. */
export function hasWebgl(): boolean {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('webgl2');
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return context !== null;
}
