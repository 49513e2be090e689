import { spawn } from 'node:child_process';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import jsqr from 'jsqr';
import sharp from 'sharp';

/** How an image is drawn: dots per inch of an SVG, and the width in pixels, if it is not its own. */
interface Drawing {
  density?: number;
  width?: number;
}

/**
 * What a QR code says, as a decoder of somebody else's reads it.
 *
 * @param image a PNG or SVG
 * @returns undefined if it has no code
 */
export async function readQrCode(
  image: string | Uint8Array,
  drawing: Drawing = {},
): Promise<string | undefined> {
  // A process of its own: in theirs the services have sharp refuse SVG.
  const words = [fileURLToPath(import.meta.url), JSON.stringify(drawing)];
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(image);
  return JSON.parse(await text(child.stdout)).says;
}

if (import.meta.main) {
  const { width, ...options }: Drawing = JSON.parse(process.argv[2] as string);
  const { data, info } = await sharp(await buffer(process.stdin), options)
    .resize(width)
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const decode = jsqr as unknown as typeof jsqr.default;
  const says = decode(new Uint8ClampedArray(data), info.width, info.height)?.data;
  process.stdout.write(JSON.stringify({ says }));
}
