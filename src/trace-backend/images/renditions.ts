import { buffer } from 'node:stream/consumers';
import type { Sharp } from 'sharp';
import type { FileStore } from '../../platform/files/index.ts';
import { limiter } from '../../platform/http/limiter.ts';

/** The sizes an image is served in: pixels that it fits inside. Smaller ones stay as they are. */
export const SIZES = {
  SMALL: { width: 640, height: 320 },
  MEDIUM: { width: 1024, height: 512 },
  LARGE: { width: 1200, height: 600 },
  XLARGE: { width: 1440, height: 720 },
  XXLARGE: { width: 2000, height: 1000 },
} as const;

export type Size = keyof typeof SIZES;

/** Pixels of one image, at most: four bytes each once it is decoded, whatever its file has. */
export const MAX_PIXELS = 50_000_000;
/** Seconds that one image may take. */
const SECONDS = 30;
/** JPEG and WebP quality, 1 to 100: nothing is seen of it at this one. */
const QUALITY = 90;

// Each image that is worked on has some hundred megabytes and one of Node's few threads.
const limited = limiter({ full: 'too many images wait to be processed', concurrency: 2, queue: 64 });

/** What an image's bytes are read as; everything else that the library could read stays shut. */
const FORMATS = { 'image/jpeg': 'Jpeg', 'image/png': 'Png', 'image/webp': 'Webp' } as const;
export type ImageType = keyof typeof FORMATS;

export function isImageType(contentType: string): contentType is ImageType {
  return contentType in FORMATS;
}

/** Where the bytes as they were received are kept. */
export function originalKey(storageKey: string): string {
  return `images/${storageKey}/original`;
}

/** Where the image that is served is kept, in a size or in its own. */
export function renditionKey(storageKey: string, size: Size | undefined): string {
  return `images/${storageKey}/${size?.toLowerCase() ?? 'full'}`;
}

/**
 * Makes what is served of an image: upright, in sRGB, without any metadata, in the format it came in. The image is
 * decoded as a whole, so this is also the proof that it is one.
 *
 * @param source its bytes, or a path to them
 * @throws NotDecodable, with a sentence about it; Problem unavailable when too many wait
 */
export async function makeRendition(
  source: string | (() => Promise<Buffer>),
  contentType: ImageType,
  size: Size | undefined,
): Promise<Buffer> {
  return limited(async () => {
    const sharp = await loadSharp();
    const input = typeof source === 'string' ? source : await source();
    // Cameras' harmless oddities are warnings; a file that ends too early is an error.
    const image = sharp(input, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).autoOrient();
    if (size) image.resize({ ...SIZES[size], fit: 'inside', withoutEnlargement: true });
    try {
      // Metadata is left out, and colours become sRGB, unless it is asked for otherwise.
      return await encode(image.timeout({ seconds: SECONDS }), contentType).toBuffer();
    } catch (error) {
      throw new NotDecodable(complaint((error as Error).message), { cause: error });
    }
  });
}

/** Bytes that are no image after all, or one that is too large to be worked on. */
export class NotDecodable extends Error {}

function complaint(message: string): string {
  if (/pixel limit/.test(message)) return `file has more than ${MAX_PIXELS / 1e6} million pixels`;
  if (/^timeout/.test(message)) return `file takes longer than ${SECONDS} seconds to be read as an image`;
  return 'file is damaged: it cannot be read as the image that it begins as';
}

function encode(image: Sharp, contentType: ImageType): Sharp {
  if (contentType === 'image/png') return image.png();
  return contentType === 'image/webp' ? image.webp({ quality: QUALITY }) : image.jpeg({ quality: QUALITY });
}

let loaded: Promise<typeof import('sharp').default> | undefined;

/** The library is loaded with the first image: most starts have none for a while. */
function loadSharp() {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    const readers = Object.values(FORMATS).map(format => `VipsForeignLoad${format}`);
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: readers });
    return sharp;
  });
  return loaded;
}

/** Where a rendition of an image is kept, and how many bytes it has. */
export type Renditions = (
  storageKey: string,
  contentType: ImageType,
  size: Size | undefined,
) => Promise<{ key: string; bytes: number }>;

/**
 * Gives where a rendition of an image is kept, making it when it is asked for the first time. Those who ask for it at
 * the same time wait for the one making; two processes may make the same bytes twice.
 */
export function renditions(files: FileStore): Renditions {
  const making = new Map<string, Promise<void>>();

  async function make(key: string, storageKey: string, contentType: ImageType, size: Size | undefined) {
    const original = async () => buffer(await files.read(originalKey(storageKey)));
    await files.put(key, await makeRendition(original, contentType, size));
  }

  return async (storageKey, contentType, size) => {
    const key = renditionKey(storageKey, size);
    const bytes = await files.size(key);
    if (bytes !== undefined) return { key, bytes };
    if (!making.has(key)) {
      const made = make(key, storageKey, contentType, size).finally(() => making.delete(key));
      making.set(key, made);
    }
    await making.get(key);
    return { key, bytes: (await files.size(key)) as number };
  };
}
