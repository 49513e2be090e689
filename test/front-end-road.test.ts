import { afterAll, beforeAll, expect, test } from 'vitest';
import { picture, uploadFile } from './helpers/images.ts';
import { type MailServer, mailServer, tokenIn } from './helpers/mail-server.ts';
import { companyForm, labelFields, productForm } from './helpers/product-forms.ts';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_FRONTEND_URL: 'https://front.example' });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

/** The data of an answer that has to be good. */
async function good(who: Pick<LoggedIn, 'send'>, method: string, path: string, body?: object) {
  const answer = await who.send(method, path, body);
  expect(answer.status, `${method} ${path} ${answer.text}`).toBe(200);
  return answer.body.data;
}

/** Registers, confirms by the mail and is activated by the administrator. */
async function joined(email: string): Promise<LoggedIn> {
  const password = 'a password of mine';
  const form = { name: 'Ana', surname: 'Uwase', email, password, condition: true };
  const { id } = await good(trace, 'POST', '/api/user/register', form);
  const [first] = await mail.mailsTo(email);
  expect(first?.raw.replaceAll('=\n', '')).toContain('https://front.example/confirm-email/');
  await good(trace, 'POST', '/api/user/confirm_email', { token: tokenIn(first) });
  await good(admin, 'POST', '/api/user/admin/execute/ACTIVATE_USER', { id });
  return trace.login(email, password);
}

const upload = async (user: LoggedIn) =>
  (await uploadFile(trace, user, 'image', await picture(90, 90).jpeg().toBuffer())).body.data;

/** A user with a company, a value chain, a product with a photo and pins, and a published label of it. */
async function labelled(email: string, name: string) {
  const user = await joined(email);
  const logo = await upload(user);
  const form = { ...companyForm(0), id: null, name, logo };
  const { id: companyId } = await good(user, 'POST', '/api/company/create', form);
  const code = { code: `TYPE_${companyId}`, label: 'Washing station' };
  const { id: facilityTypeId } = await good(admin, 'PUT', '/api/chain/facility-type', code);
  const chain = {
    ...{ id: null, name: `${name}'s coffee`, description: 'From cherry to cup', valueChainStatus: null },
    facilityTypes: [{ id: facilityTypeId, ...code }],
    ...{ measureUnitTypes: [], processingEvidenceTypes: [], processingEvidenceFields: [], semiProducts: [] },
  };
  const { id: valueChainId } = await good(admin, 'PUT', '/api/chain/value-chain', chain);
  const photo = await upload(user);
  const profile = await good(user, 'GET', `/api/company/profile/${companyId}`);
  const product = productForm(profile, photo.storageKey);
  const valueChain = await good(user, 'GET', `/api/chain/value-chain/${valueChainId}`);
  const { id: productId } = await good(user, 'POST', '/api/product/create', { ...product, valueChain });
  const fields = labelFields([
    'name',
    'photo',
    'origin',
    'process.production',
    'company.name',
    'company.logo',
  ]);
  const label = { productId: String(productId), title: 'Spring', language: 'EN', fields };
  const { id: labelId } = await good(user, 'POST', '/api/product/label/create', label);
  const current = await good(user, 'GET', `/api/product/label/${labelId}`);
  const content = await good(user, 'GET', `/api/product/label/content/${labelId}`);
  await good(user, 'PUT', '/api/product/label', { ...current, fields, title: 'Spring' });
  await good(user, 'PUT', '/api/product/label/content', { ...content, description: 'Label text' });
  await good(user, 'PUT', `/api/product/label/${labelId}/documents`, [] as object);
  await good(user, 'POST', '/api/product/label/execute/PUBLISH_LABEL', current);
  return { user, companyId, valueChainId, productId, labelId, uuid: current.uuid, logo, photo };
}

test('from a registration to the page of a consumer and their feedback; a second tenant sees nothing of it', async () => {
  const ours = await labelled('ana@example.org', 'Kopanyi');
  const { uuid, labelId, productId, companyId } = ours;
  const product = await good(ours.user, 'GET', `/api/product/${productId}`);
  expect(product).toMatchObject({
    company: { id: companyId, name: 'Kopanyi' },
    valueChain: { id: ours.valueChainId, name: "Kopanyi's coffee" },
  });

  const page = await good(trace, 'GET', `/api/public/product/label/${uuid}`);
  const values = new Map(
    page.fields.map(({ name, value }: { name: string; value: unknown }) => [name, value]),
  );
  expect([...values.keys()]).toEqual([
    ...['name', 'photo', 'origin', 'journeyMarkers', 'process.production', 'company.name', 'company.logo'],
  ]);
  expect(values.get('company.logo')).toMatchObject({ storageKey: ours.logo.storageKey });
  expect(values.get('journeyMarkers')).toHaveLength(2);
  await good(trace, 'GET', '/api/public/stock-order/EMPTY?withHistory=true');
  const photo = await trace.send('GET', page.photo);
  expect([photo.status, photo.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  const feedback = { feedback: 'Nice', email: 'joy@example.org', gdprConsent: true };
  await good(trace, 'POST', `/api/public/product/label/feedback/${uuid}`, feedback);
  const list = `/api/public/product/label/feedback/list/${uuid}`;
  expect((await good(ours.user, 'GET', list)).items).toMatchObject([feedback]);

  const theirs = await labelled('ben@example.org', 'Roastery');
  const own = await good(theirs.user, 'GET', '/api/product/list');
  expect(own.items.map(({ id }: { id: number }) => id)).toEqual([theirs.productId]);
  for (const path of [
    `/api/company/profile/${companyId}`,
    `/api/product/${productId}`,
    `/api/product/${productId}/labels`,
    `/api/product/${productId}/finalProduct/list`,
    `/api/product/knowledgeBlog/list/${productId}`,
    `/api/product/label/${labelId}`,
    `/api/product/label/content/${labelId}`,
    `/api/product/label/${labelId}/batches`,
    `/api/product/label/${labelId}/documents`,
    `/api/product/label/${labelId}/instructions`,
    `/api/product/label/analytics/${uuid}`,
    `/api/final-product/company/${companyId}`,
  ]) {
    expect((await theirs.user.send('GET', path)).status, path).toBe(404);
  }
  const seen = await good(theirs.user, 'GET', list);
  expect(JSON.stringify(seen)).not.toContain('joy@example.org');
  const { storageKey } = ours.photo;
  const body = { id: theirs.productId, photo: { storageKey } };
  const refused = await theirs.user.send('PUT', '/api/product', body);
  expect(refused.status).toBe(400);
});
