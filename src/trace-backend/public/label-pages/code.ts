import { LRUCache } from 'lru-cache';

/** Error correction for codes of which a seventh is hidden or worn off, and the quiet zone of the standard. */
const OPTIONS = { errorCorrectionLevel: 'M', margin: 4 } as const;
/** Width of the PNG in pixels, for a sticker of 5 cm at 300 dpi; the SVG prints at any size. */
const WIDTH = 600;

/** A QR code (ISO/IEC 18004) for a URL, as SVG text. */
export async function codeAsSvg(url: string): Promise<string> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toString(url, { ...OPTIONS, type: 'svg' });
}

/** A QR code for a URL, as PNG. */
export async function codeAsPng(url: string): Promise<Buffer> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toBuffer(url, { ...OPTIONS, type: 'png', width: WIDTH });
}

/** Maximum bytes of codes in the cache. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** Caches codes, which never change, because they only contain their URL. The least recently used are dropped. */
export function cachedCodes<Code extends string | Buffer>(
  draw: (url: string) => Promise<Code>,
  maxBytes = CACHE_BYTES,
): (url: string) => Promise<Code> {
  const cache = new LRUCache<string, Code>({ maxSize: maxBytes, sizeCalculation: code => code.length });
  const drawing = new Map<string, Promise<Code>>();

  async function drawOnce(url: string): Promise<Code> {
    try {
      const code = await draw(url);
      cache.set(url, code);
      return code;
    } finally {
      drawing.delete(url);
    }
  }

  return async url => {
    const cached = cache.get(url);
    if (cached !== undefined) return cached;
    const code = drawing.get(url) ?? drawOnce(url);
    drawing.set(url, code);
    return code;
  };
}
