import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../../../test/helpers/browser.ts';
import { added, tenant } from '../../../../test/helpers/chain.ts';
import { uploadFile } from '../../../../test/helpers/images.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
});
afterAll(() => trace.stop());

test("browsers get a page: escaped, without scripts, in the label's language, readable on a phone", async () => {
  const { user } = await tenant(trace, 'Kopanyi <Cooperative>');
  const bytes = await sharp({
    create: {
      width: 900,
      height: 600,
      channels: 3,
      background: '#7c5a3c',
      noise: { type: 'gaussian', mean: 110, sigma: 40 },
    },
  })
    .jpeg()
    .toBuffer();
  const image = (await uploadFile(trace, user, 'image', bytes)).body.data;
  const evil = '<script>alert(1)</script>';
  const product = { name: 'Washed Bourbon', photo: { storageKey: image.storageKey } };
  const label = (
    await user.send('POST', '/api/product/label/create', {
      productId: await added(user, product),
      title: `"Bourbon" & ${evil}`,
      language: 'DE',
      fields: [
        { name: 'Altitude', section: 'Origin', value: 1700 },
        { name: 'Process', section: 'Making', value: 'Washed\nand dried', note: 'ours' },
        { name: 'Shade-grown', section: 'Origin', value: true },
        { name: evil, section: `'${evil}`, value: `<img src=x onerror="alert(1)">${evil}` },
        { name: 'الارتفاع', section: 'المنشأ', value: 'نياماشيكي' },
        { name: 'Left empty', value: '' },
        { name: 'A long word', value: 'x'.repeat(300) },
      ],
    })
  ).body.data;
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const url = `${trace.url}/api/public/product/label/${label.uuid}`;
  const browser = await openBrowser({ width: 390, height: 844 });
  try {
    const answer = await browser.page.goto(url);
    expect(answer?.headers()['content-type']).toBe('text/html; charset=utf-8');
    expect(answer?.headers()['content-security-policy']).not.toMatch(/unsafe|script/);
    expect(answer?.headers().vary).toMatch(/accept/i);
    expect(await browser.page.locator('h1').textContent()).toBe(`"Bourbon" & ${evil}`);
    expect(await browser.page.locator('script, [onerror]').count()).toBe(0);
    expect(await browser.page.locator('html').getAttribute('lang')).toBe('de');
    expect(await browser.page.locator('h2').allTextContents()).toEqual([
      'Origin',
      'Making',
      `'${evil}`,
      'المنشأ',
    ]);
    expect(await browser.page.locator('dt').allTextContents()).not.toContain('Left empty');
    const wide = await browser.page.evaluate('document.documentElement.scrollWidth');
    expect(wide).toBe(390);
    expect(await browser.page.evaluate("document.querySelector('img').naturalWidth")).toBe(900);
    if (process.env.SCREENSHOTS) {
      await browser.page.screenshot({ path: `${process.env.SCREENSHOTS}/label.png`, fullPage: true });
    }
    expect(browser.complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});
