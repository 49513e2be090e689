import { LRUCache } from 'lru-cache';

/** Error correction for a seventh of the code being hidden or worn off, and the quiet zone of the standard. */
const OPTIONS = { errorCorrectionLevel: 'M', margin: 4 } as const;
/** Pixels of a side of the PNG, for a sticker of 5 cm at 300 dpi; the SVG prints at any size. */
const WIDTH = 600;

/** A QR code (ISO/IEC 18004) for a URL, as SVG text. */
export async function codeAsSvg(url: string): Promise<string> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toString(url, { ...OPTIONS, type: 'svg' });
}

/** The same as PNG. */
export async function codeAsPng(url: string): Promise<Buffer> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toBuffer(url, { ...OPTIONS, type: 'png', width: WIDTH });
}

/** Bytes of codes in the cache. */
const REMEMBERED = 16 * 1024 * 1024;

/** Caches codes, which never change because they only contain their URL. The least recently used ones are dropped. */
export function rememberCodes<Code extends string | Buffer>(
  draw: (url: string) => Promise<Code>,
  maxBytes = REMEMBERED,
): (url: string) => Promise<Code> {
  const drawn = new LRUCache<string, Code>({ maxSize: maxBytes, sizeCalculation: code => code.length });
  const underWay = new Map<string, Promise<Code>>();

  async function drawOnce(url: string): Promise<Code> {
    try {
      const code = await draw(url);
      drawn.set(url, code);
      return code;
    } finally {
      underWay.delete(url);
    }
  }

  return async url => {
    const known = drawn.get(url);
    if (known !== undefined) return known;
    const begun = underWay.get(url) ?? drawOnce(url);
    underWay.set(url, begun);
    return begun;
  };
}
