/** What a printed code still reads with: a seventh of it hidden or worn off, and the quiet zone the standard asks for. */
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
