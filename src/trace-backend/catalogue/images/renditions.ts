import { buffer } from 'node:stream/consumers';
import type { Sharp } from 'sharp';
import type { FileStore } from '../../../platform/files/index.ts';
import { limiter } from '../../../platform/http/limiter.ts';
import { type Fault, fault, textOf } from '../../../platform/http/reasons/catalogue.ts';

/** The sizes of renditions: pixels that they fit inside. Smaller images are not enlarged. */
export const SIZES = {
  SMALL: { width: 640, height: 320 },
  MEDIUM: { width: 1024, height: 512 },
  LARGE: { width: 1200, height: 600 },
  XLARGE: { width: 1440, height: 720 },
  XXLARGE: { width: 2000, height: 1000 },
} as const;

export type Size = keyof typeof SIZES;

/** Maximum pixels per image: each takes four bytes when decoded, whatever the size of the file. */
export const MAX_PIXELS = 50_000_000;
/** Maximum seconds for processing an image. */
const SECONDS = 30;
/** JPEG and WebP quality, 1 to 100; losses are invisible at this one. */
const QUALITY = 90;

/** The accepted formats; the library's other decoders are disabled. */
const FORMATS = { 'image/jpeg': 'Jpeg', 'image/png': 'Png', 'image/webp': 'Webp' } as const;
export type ImageType = keyof typeof FORMATS;

export function isImageType(contentType: string): contentType is ImageType {
  return contentType in FORMATS;
}

/** The key of the received bytes. */
export function originalKey(storageKey: string): string {
  return `images/${storageKey}/original`;
}

/** The key of a rendition, in a size or the original one. */
export function renditionKey(storageKey: string, size: Size | undefined): string {
  return `images/${storageKey}/${size?.toLowerCase() ?? 'full'}`;
}

/**
 * Makes a rendition of an image: upright, in sRGB, without metadata, in the original format. The image is decoded
 * completely, which also proves that it is valid.
 *
 * @param source its bytes, or a path to them
 * @throws NotDecodable, with the fault; Problem unavailable if too many wait
 */
export type MakeRendition = (
  source: string | (() => Promise<Buffer>),
  contentType: ImageType,
  size: Size | undefined,
) => Promise<Buffer>;

/** Makes the renditions of an application, with limited concurrency. */
export function renditionMaker(): MakeRendition {
  // Processing an image takes some hundred megabytes and one of Node's few threads.
  const limited = limiter({ full: fault('image.too_many_waiting'), concurrency: 2, queue: 64 });
  return (source, contentType, size) =>
    limited(async () => rendition(typeof source === 'string' ? source : await source(), contentType, size));
}

async function rendition(
  input: string | Buffer,
  contentType: ImageType,
  size: Size | undefined,
): Promise<Buffer> {
  const sharp = await loadSharp();
  // Harmless quirks of cameras are warnings; a truncated file is an error.
  const image = sharp(input, { limitInputPixels: MAX_PIXELS, failOn: 'error' }).autoOrient();
  if (size) image.resize({ ...SIZES[size], fit: 'inside', withoutEnlargement: true });
  try {
    // Metadata is removed and colours are converted to sRGB by default.
    return await encode(image.timeout({ seconds: SECONDS }), contentType).toBuffer();
  } catch (error) {
    throw new NotDecodable(faultOf((error as Error).message), { cause: error });
  }
}

/** Bytes that are not a valid image, or one that is too large to process. */
export class NotDecodable extends Error {
  readonly fault: Fault;
  constructor(fault: Fault, options: ErrorOptions) {
    super(textOf(fault), options);
    this.fault = fault;
  }
}

/** The fault of a file that the library does not decode, by its message. */
function faultOf(message: string): Fault {
  const field = 'file';
  if (/pixel limit/.test(message)) return fault('image.too_many_pixels', { field, max: MAX_PIXELS / 1e6 });
  if (/^timeout/.test(message)) return fault('image.too_slow_to_read', { field, max: SECONDS });
  return fault('image.damaged', { field });
}

function encode(image: Sharp, contentType: ImageType): Sharp {
  if (contentType === 'image/png') return image.png();
  return contentType === 'image/webp' ? image.webp({ quality: QUALITY }) : image.jpeg({ quality: QUALITY });
}

let loaded: Promise<typeof import('sharp').default> | undefined;

/** The library is loaded with the first image, to start faster. */
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

/** The key and size in bytes of a rendition. */
export type Renditions = (
  storageKey: string,
  contentType: ImageType,
  size: Size | undefined,
) => Promise<{ key: string; bytes: number }>;

/**
 * Finds renditions, and makes them on first use. Concurrent callers wait for the same rendition; two processes
 * may make the same bytes twice.
 */
export function renditions(files: FileStore, makeRendition: MakeRendition): Renditions {
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
