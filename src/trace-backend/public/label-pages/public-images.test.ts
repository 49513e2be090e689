import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, tenant } from '../../../../test/helpers/chain.ts';
import { downloadFile, picture, uploadFile } from '../../../../test/helpers/images.ts';
import { labelFields } from '../../../../test/helpers/product-forms.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
});
afterAll(() => trace.stop());

const nobody = { cookie: '' };
const PATHS = (key: string) => [`image/${key}`, `image/${key}/SMALL`, `document/${key}`];

async function uploaded(user: Parameters<typeof uploadFile>[1], kind: 'image' | 'document') {
  const bytes = await picture(900, 600).jpeg().toBuffer();
  return (await uploadFile(trace, user, kind, bytes)).body.data.storageKey as string;
}

/** A label of a product, with actions on it, which shows these fields of its content. */
async function labelOf(user: LoggedIn, productId: number, visible: string[]) {
  const body = { productId, title: 'Tea', fields: labelFields(visible) };
  const created = await user.send('POST', '/api/product/label/create', body);
  expect(created.status, created.text).toBe(200);
  return async (action: string) => {
    const path = `/api/product/label/execute/${action}`;
    const { status, text } = await user.send('POST', path, { id: created.body.data.id });
    expect(status, text).toBe(200);
  };
}

/** The statuses of an image without a login, at each of the public paths. */
async function statuses(key: string): Promise<number[]> {
  const answers = PATHS(key).map(path => fetch(`${trace.url}/api/public/${path}`));
  return (await Promise.all(answers)).map(({ status }) => status);
}

test('everyone reads an image while a published label shows it', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const photo = await uploaded(user, 'image');
  const company = { id: companyId };
  const id = await added(user, { name: 'Tea', company, photo: { storageKey: photo } });
  const execute = await labelOf(user, id, ['photo']);
  expect(await statuses(photo)).toEqual([404, 404, 404]);
  await execute('PUBLISH_LABEL');
  expect(await statuses(photo)).toEqual([200, 200, 200]);
  const answer = await fetch(`${trace.url}/api/public/document/${photo}`);
  expect(answer.headers.get('content-type')).toBe('image/jpeg');
  expect(answer.headers.get('cache-control')).toBe('no-cache');
  const tag = answer.headers.get('etag') as string;
  const again = await fetch(`${trace.url}/api/public/image/${photo}`, { headers: { 'if-none-match': tag } });
  expect(again.status).toBe(304);
  await execute('UNPUBLISH_LABEL');
  expect(await statuses(photo)).toEqual([404, 404, 404]);
  const later = await fetch(`${trace.url}/api/public/image/${photo}`, { headers: { 'if-none-match': tag } });
  expect(later.status).toBe(404);
});

test('what no published label shows stays private: logos, documents of products, and files of others', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const [photo, logo, loose] = [
    await uploaded(user, 'image'),
    await uploaded(user, 'image'),
    await uploaded(user, 'image'),
  ];
  const proof = await uploaded(user, 'document');
  await user.send('PUT', '/api/company/profile', { id: companyId, logo: { storageKey: logo } });
  const id = await added(user, {
    name: 'Tea',
    company: { id: companyId },
    photo: { storageKey: photo },
    settings: { incomeIncreaseDocument: { storageKey: proof } },
  });
  await (await labelOf(user, id, ['photo']))('PUBLISH_LABEL');
  expect(await statuses(photo)).toEqual([200, 200, 200]);
  for (const key of [logo, loose, proof, 'nonsense'])
    expect(await statuses(key), key).toEqual([404, 404, 404]);
  // A login changes nothing, and the other paths still need one.
  for (const path of PATHS(proof)) {
    const { status } = await fetch(`${trace.url}/api/public/${path}`, { headers: { cookie: user.cookie } });
    expect(status, path).toBe(404);
  }
  expect((await downloadFile(trace, nobody, `image/${photo}`)).status).toBe(401);
});

test('the page of a label has its main colour and its picture at the top, and lets no text into its style', async () => {
  const { user, companyId } = await tenant(trace, 'Kopanyi');
  const storageKey = await uploaded(user, 'image');
  const businessToCustomerSettings = { primaryColor: '#25265E', landingPageImage: { storageKey } };
  const id = await added(user, { name: 'Tea', company: { id: companyId }, businessToCustomerSettings });
  const created = await user.send('POST', '/api/product/label/create', {
    ...{ productId: id, title: 'Tea', fields: labelFields(['description']) },
  });
  const label = created.body.data;
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const url = `${trace.url}/api/public/product/label/${label.uuid}`;
  const page = async () => {
    const answer = await fetch(url, { headers: { accept: 'text/html' } });
    return { html: await answer.text(), policy: answer.headers.get('content-security-policy') ?? '' };
  };
  const { html, policy } = await page();
  const [, style = ''] = /<style>(:root\{--mark:#25265e\}.*)<\/style>/.exec(html) ?? [];
  expect(policy).toContain(`'sha256-${hash('sha256', style, 'base64')}'`);
  const [, source = ''] = /<img src="([^"]*)" alt="Tea">\s*<header>/.exec(html) ?? [];
  expect((await fetch(new URL(source, url))).headers.get('content-type')).toBe('image/jpeg');

  const evil = '#000}</style><script>alert(1)';
  const look = { primaryColor: evil, landingPageImage: '' };
  await user.send('PUT', '/api/product/label/content', {
    labelId: label.id,
    businessToCustomerSettings: look,
  });
  const plain = (await page()).html;
  expect(plain.match(/<style>/g)).toHaveLength(1);
  expect(plain).not.toMatch(/<script|<img/);
});
