import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { CODE_LISTS, type CodeList } from './lists.ts';

let trace: RunningTrace;
let admin: LoggedIn;
let regional: LoggedIn;
let user: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  regional = await trace.loggedIn('REGIONAL_ADMIN');
  user = await trace.loggedIn();
});
afterAll(() => trace.stop());

let count = 0;
/** A key that no code has. */
const unused = () => `KEY_${++count}`;
const methodFor = ({ name }: CodeList) => (name === 'ProductType' ? 'POST' : 'PUT');

/** Adds a code; returns its id. */
async function added(list: CodeList, body: object, by = admin): Promise<number> {
  const { status, body: answer, text } = await by.send(methodFor(list), list.path, body);
  expect(status, text).toBe(200);
  return answer.data.id;
}

/** A new code with only required fields. */
const small = (list: CodeList) => ({ ...(list.key && { [list.key]: unused() }), [list.title]: 'Small' });

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
async function got(list: CodeList, id: number, headers = {}): Promise<any> {
  const { status, body, text } = await user.send('GET', `${list.path}/${id}`, undefined, headers);
  expect(status, text).toBe(200);
  return body.data;
}

const listPath = (list: CodeList) => (list.name === 'ProductType' ? list.path : `${list.path}/list`);
const all = Object.values(CODE_LISTS);

/** Translations that the front end's forms send empty. */
const empty = ['DE', 'RW', 'ES'].map(language => ({ name: '', description: '', language }));

test('bodies of the public front end are accepted, and their content comes back', async () => {
  const { facilityTypes, measureUnitTypes, processingEvidenceFields, processingEvidenceTypes } = CODE_LISTS;
  const { semiProducts } = CODE_LISTS;
  const washing = await added(facilityTypes, { code: 'WASHING_STATION', label: 'Washing station' });
  expect(await got(facilityTypes, washing)).toEqual({
    id: washing,
    code: 'WASHING_STATION',
    label: 'Washing station',
  });
  const kg = await added(measureUnitTypes, { code: 'KG', label: 'kg', weight: '1' });
  expect(await got(measureUnitTypes, kg)).toEqual({ id: kg, code: 'KG', label: 'kg', weight: 1 });
  const untranslated = ['DE', 'RW', 'ES'].map(language => ({ label: '', language }));
  const note = await added(processingEvidenceTypes, {
    code: 'DELIVERY_NOTE',
    label: 'Delivery note',
    type: 'DOCUMENT',
    fairness: true,
    translations: [{ label: 'Delivery note', language: 'EN' }, ...untranslated],
  });
  expect(await got(processingEvidenceTypes, note)).toEqual({
    id: note,
    code: 'DELIVERY_NOTE',
    label: 'Delivery note',
    type: 'DOCUMENT',
    fairness: true,
    translations: [{ label: 'Delivery note', language: 'EN' }],
  });
  const moisture = await added(processingEvidenceFields, {
    fieldName: 'MOISTURE',
    label: 'Moisture',
    type: 'STRING',
    translations: [{ label: 'Moisture', language: 'EN' }, ...untranslated],
  });
  expect(await got(processingEvidenceFields, moisture)).toEqual({
    id: moisture,
    fieldName: 'MOISTURE',
    label: 'Moisture',
    type: 'STRING',
    translations: [{ label: 'Moisture', language: 'EN' }],
  });
  const cherry = await added(semiProducts, {
    measurementUnitType: { code: 'KG', label: 'kg', weight: '1', id: kg },
    skuendCustomer: true,
    sku: true,
    buyable: true,
    translations: [{ name: 'Cherry', description: 'Fresh cherry', language: 'EN' }, ...empty],
  });
  expect(await got(semiProducts, cherry)).toEqual({
    id: cherry,
    name: 'Cherry',
    description: 'Fresh cherry',
    measurementUnitType: { id: kg, code: 'KG', label: 'kg', weight: 1 },
    skuendCustomer: true,
    sku: true,
    buyable: true,
    translations: [{ name: 'Cherry', description: 'Fresh cherry', language: 'EN' }],
  });
  const detail = await user.send('GET', `${semiProducts.path}/${cherry}/detail`);
  expect(detail.body.data).toEqual(await got(semiProducts, cherry));
});

test('a product type has the fields that the front end sends, and the times of creation and change', async () => {
  const { productTypes } = CODE_LISTS;
  const coffee = await added(productTypes, {
    code: 'COFFEE',
    translations: [{ name: 'Coffee', description: 'Coffee', language: 'EN' }, ...empty],
  });
  expect(await got(productTypes, coffee)).toEqual({
    id: coffee,
    code: 'COFFEE',
    name: 'Coffee',
    description: 'Coffee',
    creationTimestamp: expect.stringMatching(/^20.*Z$/),
    updateTimestamp: expect.stringMatching(/^20.*Z$/),
    translations: [{ name: 'Coffee', description: 'Coffee', language: 'EN' }],
  });
});

test('texts are in the language of the header, or in English without a translation', async () => {
  const list = CODE_LISTS.semiProducts;
  const translations = [
    { language: 'EN', name: 'Cherry', description: 'Fresh' },
    { language: 'DE', name: 'Kirsche', description: '' },
    { language: 'ES', name: '', description: 'Fresca' },
  ];
  const id = await added(list, { translations });
  const shown = [
    { language: 'EN', name: 'Cherry', description: 'Fresh' },
    { language: 'DE', name: 'Kirsche' },
    { language: 'ES', description: 'Fresca' },
  ];
  for (const [language, name, description] of [
    ['EN', 'Cherry', 'Fresh'],
    ['DE', 'Kirsche', 'Fresh'],
    ['RW', 'Cherry', 'Fresh'],
    ['ES', 'Cherry', 'Fresca'],
    ['FR', 'Cherry', 'Fresh'],
  ]) {
    const expected = { id, name, description, translations: shown };
    const headers = { language: language as string };
    expect(await got(list, id, headers), language).toEqual(expected);
    const { body } = await user.send('GET', listPath(list), undefined, headers);
    expect(body.data.items).toContainEqual(expected);
  }
});

test('a list of translations replaces the previous one; the English translation is the text of the code', async () => {
  const list = CODE_LISTS.productTypes;
  const id = await added(list, {
    code: unused(),
    translations: [
      { language: 'EN', name: 'Tea', description: 'Leaves' },
      { language: 'DE', name: 'Tee' },
    ],
  });
  const change = async (body: object) => {
    const { status, text } = await admin.send('PUT', list.path, { id, ...body });
    expect(status, text).toBe(200);
    const { name, description, translations } = await got(list, id);
    const shown = translations.map((each: { language: string; name: string }) => [each.language, each.name]);
    return { name, description, shown };
  };
  // Front ends send back the name in the language in which they read it.
  expect(await change({ name: 'Tee', translations: [{ language: 'EN', name: 'Green tea' }] })).toEqual({
    name: 'Green tea',
    shown: [['EN', 'Green tea']],
  });
  expect(await change({ name: 'Black tea', description: 'Fermented' })).toEqual({
    name: 'Black tea',
    description: 'Fermented',
    shown: [['EN', 'Black tea']],
  });
  expect(await change({ translations: [{ language: 'RW', name: 'Icyayi' }] })).toEqual({
    name: 'Black tea',
    description: 'Fermented',
    shown: [
      ['EN', 'Black tea'],
      ['RW', 'Icyayi'],
    ],
  });
  expect(await change({ name: '', description: '' })).toEqual({
    name: 'Black tea',
    shown: [
      ['EN', 'Black tea'],
      ['RW', 'Icyayi'],
    ],
  });
  expect(await change({ translations: [] })).toEqual({ name: 'Black tea', shown: [['EN', 'Black tea']] });
});

test('the id of a product type is accepted in the query, where generated clients send it', async () => {
  const list = CODE_LISTS.productTypes;
  const id = await added(list, small(list));
  const path = `${list.path}/%7Bid%7D?id=${id}`;
  expect((await user.send('GET', path)).body.data.id).toBe(id);
  expect((await admin.send('DELETE', path)).status).toBe(200);
  expect((await user.send('GET', `${list.path}/${id}`)).status).toBe(404);

  // Other lists have no such parameter, and ignore it.
  const other = CODE_LISTS.measureUnitTypes;
  const unit = await added(other, small(other));
  expect((await user.send('GET', `${other.path}/${unit}?id=length`)).body.data.id).toBe(unit);
});

test('lists are sorted by the texts of the language, and by the key', async () => {
  const list = CODE_LISTS.processingEvidenceTypes;
  const ids: number[] = [];
  for (const [label, german] of [
    ['apple', 'Zapfel'],
    ['Zebra', 'azebra'],
  ]) {
    const translations = [
      { language: 'EN', label },
      { language: 'DE', label: german },
    ];
    ids.push(await added(list, { code: unused(), translations }));
  }
  const order = async (query: string, language: string) => {
    const path = `${listPath(list)}?${query}&limit=1000`;
    const { body } = await user.send('GET', path, undefined, { language });
    return body.data.items.map(({ id }: { id: number }) => id).filter((id: number) => ids.includes(id));
  };
  expect(await order('sortBy=label&sort=ASC', 'EN')).toEqual(ids);
  expect(await order('sortBy=name&sort=ASC', 'DE')).toEqual(ids.toReversed());
  expect(await order('sortBy=code&sort=DESC', 'DE')).toEqual(ids.toReversed());
});

test('every user reads the lists, administrators add codes, only a SYSTEM_ADMIN changes and deletes them', async () => {
  for (const list of all) {
    const method = methodFor(list);
    expect((await user.send(method, list.path, small(list))).status, list.noun).toBe(403);
    const id = await added(list, small(list), regional);
    const change = { id, [list.title]: 'Changed' };
    for (const who of [user, regional]) {
      expect((await who.send('PUT', list.path, change)).status, list.noun).toBe(403);
      expect((await who.send('DELETE', `${list.path}/${id}`)).status, list.noun).toBe(403);
    }
    expect((await got(list, id))[list.title]).toBe('Small');
    expect((await admin.send('PUT', list.path, change)).body).toEqual({ status: 'OK', data: { id } });
    expect((await got(list, id))[list.title]).toBe('Changed');
    expect((await admin.send('DELETE', `${list.path}/${id}`)).body).toEqual({ status: 'OK' });
    for (const [method, path, body] of [
      ['GET', `${list.path}/${id}`],
      ['DELETE', `${list.path}/${id}`],
      ['PUT', list.path, change],
    ] as const) {
      const { status, body: answer } = await admin.send(method, path, body);
      expect([status, answer], `${method} ${path}`).toEqual([
        404,
        { status: 'NOT_FOUND', errorMessage: `there is no such ${list.noun}` },
      ]);
    }
  }
});

test('each change has an audit entry, and a change without effect has none', async () => {
  for (const list of all) {
    const body = small(list);
    const id = await added(list, body);
    await admin.send('PUT', list.path, { id, ...body });
    await admin.send('PUT', list.path, { id, [list.title]: 'Changed' });
    await admin.send('DELETE', `${list.path}/${id}`);
    const entity = list.noun.replaceAll(' ', '-');
    const { body: answer } = await admin.send(
      'GET',
      `/api/audit/list?entity=${entity}&entityId=${id}&sort=ASC`,
    );
    const word = list.noun.toUpperCase().replaceAll(/[ -]/g, '_');
    const lines = answer.data.items.map(({ action, details }: { action: string; details: object }) => [
      action,
      details,
    ]);
    const fields = list.translated.length > 0 ? [list.title, 'translations'] : [list.title];
    expect(lines).toEqual([
      [`CREATE_${word}`, { [list.title]: 'Small' }],
      [`UPDATE_${word}`, { fields }],
      [`DELETE_${word}`, { [list.title]: 'Changed' }],
    ]);
  }
});

test('invalid values are refused with the name of the field', async () => {
  const { measureUnitTypes, processingEvidenceTypes, semiProducts, productTypes } = CODE_LISTS;
  const code = unused();
  await added(measureUnitTypes, { code, label: 'kg' });
  const long = 'x'.repeat(256);
  for (const [list, body, field] of [
    [measureUnitTypes, { label: 'kg' }, 'code'],
    [measureUnitTypes, { code: unused() }, 'label'],
    [measureUnitTypes, { code: unused(), label: ' ' }, 'label'],
    [measureUnitTypes, { code, label: 'kg' }, 'code'],
    [measureUnitTypes, { code: long, label: 'kg' }, 'code'],
    [measureUnitTypes, { code: unused(), label: 'kg', weight: 'heavy' }, 'weight'],
    [measureUnitTypes, { code: unused(), label: 'kg', weight: -1 }, 'weight'],
    [processingEvidenceTypes, { code: unused(), label: 'x', type: 'FILE' }, 'type'],
    [processingEvidenceTypes, { code: unused(), label: 'x', fairness: 'perhaps' }, 'fairness'],
    [
      processingEvidenceTypes,
      { code: unused(), translations: [{ language: 'EN', label: long }] },
      'translations.0.label',
    ],
    [
      processingEvidenceTypes,
      { code: unused(), translations: [{ language: 'FR', label: 'x' }] },
      'translations.0.language',
    ],
    [
      semiProducts,
      {
        translations: [
          { language: 'EN', name: 'x' },
          { language: 'EN', name: 'y' },
        ],
      },
      'translations.1.language',
    ],
    [semiProducts, { translations: [{ language: 'DE', name: 'Kirsche' }] }, 'name'],
    [semiProducts, { name: 'x', description: 'x'.repeat(2001) }, 'description'],
    [semiProducts, { name: 'x', measurementUnitType: { id: 999_999 } }, 'measurementUnitType.id'],
    [productTypes, { name: 'x' }, 'code'],
  ] as const) {
    const { status, body: answer } = await admin.send(methodFor(list), list.path, body);
    const fields = Object.keys(answer.validationErrorDetails?.fieldErrors ?? {});
    expect([status, fields], JSON.stringify([body, answer])).toEqual([400, [field]]);
  }
  const nameless = await admin.send('PUT', productTypes.path, { code: unused(), name: 'x' });
  expect([nameless.status, nameless.body.errorMessage]).toEqual([400, 'id is required']);
});

test('concurrent additions with the same key add one code; concurrent changes of a code add up', async () => {
  const list = CODE_LISTS.measureUnitTypes;
  const code = unused();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      (index % 2 ? admin : regional).send('PUT', list.path, { code, label: `unit ${index}` }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 400)]);
  const id = answers.find(({ status }) => status === 200)?.body.data.id;
  const other = unused();
  const changes = [{ label: 'Bag' }, { weight: 60 }, { code: other }];
  const changed = await Promise.all(
    Array.from({ length: 12 }, (_, index) => admin.send('PUT', list.path, { id, ...changes[index % 3] })),
  );
  expect(changed.map(({ status }) => status)).toEqual(changed.map(() => 200));
  expect(await got(list, id)).toEqual({ id, label: 'Bag', weight: 60, code: other });
});

test('a unit is based on another one, never on itself', async () => {
  const list = CODE_LISTS.measureUnitTypes;
  const kg = await added(list, { code: unused(), label: 'kg', weight: 1 });
  const bag = await added(list, {
    code: unused(),
    label: 'bag',
    weight: 60,
    underlyingMeasurementUnitType: { id: kg },
  });
  const pallet = await added(list, {
    code: unused(),
    label: 'pallet',
    weight: 10,
    underlyingMeasurementUnitType: { id: String(bag) },
  });
  expect((await got(list, pallet)).underlyingMeasurementUnitType).toMatchObject({ id: bag, weight: 60 });
  const cherry = await added(CODE_LISTS.semiProducts, { name: 'Cherry', measurementUnitType: { id: bag } });
  const { measurementUnitType } = await got(CODE_LISTS.semiProducts, cherry);
  expect(measurementUnitType).toMatchObject({ id: bag, underlyingMeasurementUnitType: { id: kg } });
  for (const id of [kg, bag, pallet]) {
    const body = { id: kg, underlyingMeasurementUnitType: { id } };
    const { status, body: answer } = await admin.send('PUT', list.path, body);
    expect([status, answer.errorMessage]).toEqual([
      400,
      'underlyingMeasurementUnitType.id is a unit that is based on this one',
    ]);
  }
  const circle = await Promise.all([
    admin.send('PUT', list.path, { id: kg, underlyingMeasurementUnitType: { id: pallet } }),
    admin.send('PUT', list.path, { id: pallet, underlyingMeasurementUnitType: {} }),
  ]);
  expect(circle[1]?.status).toBe(200);
  expect((await got(list, pallet)).underlyingMeasurementUnitType).toBeUndefined();
});

test('a unit in use is not deleted, and the error names its uses', async () => {
  const list = CODE_LISTS.measureUnitTypes;
  const kg = await added(list, { code: unused(), label: 'kg' });
  const underlyingMeasurementUnitType = { id: kg };
  const bag = await added(list, { code: unused(), label: 'Bag', underlyingMeasurementUnitType });
  const semiProducts: number[] = [];
  for (const name of ['Cherry', 'Parchment']) {
    semiProducts.push(await added(CODE_LISTS.semiProducts, { name, measurementUnitType: { id: kg } }));
  }
  const { status, body } = await admin.send('DELETE', `${list.path}/${kg}`);
  expect([status, body]).toEqual([
    400,
    {
      status: 'INVALID_REQUEST',
      errorMessage:
        'the measure unit type is in use by the measure unit type "Bag" and 2 of kind semi-product, such as "Cherry"',
    },
  ]);
  for (const id of semiProducts) await admin.send('DELETE', `${CODE_LISTS.semiProducts.path}/${id}`);
  await admin.send('DELETE', `${list.path}/${bag}`);
  expect((await admin.send('DELETE', `${list.path}/${kg}`)).status).toBe(200);
});

test('of a deletion and a concurrent new reference, one is refused', async () => {
  const { measureUnitTypes, semiProducts } = CODE_LISTS;
  for (let round = 0; round < 10; round++) {
    const id = await added(measureUnitTypes, { code: unused(), label: 'kg' });
    const [deleted, referring] = await Promise.all([
      admin.send('DELETE', `${measureUnitTypes.path}/${id}`),
      admin.send('PUT', semiProducts.path, { name: 'Cherry', measurementUnitType: { id } }),
    ]);
    expect([deleted.status, referring.status].sort()).toEqual([200, 400]);
  }
});

test('the second writer of the same version of a code is refused, in every list', async () => {
  for (const list of all) {
    const id = await added(list, small(list));
    const path = `${list.path}/${id}`;
    const tag = async () => (await user.send('GET', path)).headers.get('etag') as string;
    const change = (title: string, read?: string) =>
      admin.send(
        'PUT',
        list.path,
        { id, [list.title]: title },
        read === undefined ? {} : { 'if-match': read },
      );
    const remove = (read: string) => admin.send('DELETE', path, undefined, { 'if-match': read });
    const first = await tag();
    const answers = await Promise.all(['One', 'Two', 'Three'].map(title => change(title, first)));
    expect(answers.map(({ status }) => status).sort(), list.name).toEqual([200, 412, 412]);
    expect((await remove(first)).status, list.name).toBe(412);
    const second = await tag();
    expect((await change('Four')).status).toBe(200);
    expect((await change('Four')).status).toBe(200);
    expect([first, second, await tag()], list.name).toEqual(['"1"', '"2"', '"3"']);
    expect((await remove('"3"')).status, list.name).toBe(200);
  }
});

test('a disabled code is marked in every answer, stays valid, and can still be sent', async () => {
  for (const list of all) {
    const id = await added(list, small(list));
    expect(await got(list, id)).not.toHaveProperty('disabled');
    await admin.send('PUT', list.path, { id, disabled: true });
    expect((await got(list, id)).disabled, list.noun).toBe(true);
    await admin.send('PUT', list.path, { id, [list.title]: 'Other' });
    expect((await got(list, id)).disabled, list.noun).toBe(true);
    expect((await regional.send('PUT', list.path, { id, disabled: false })).status).toBe(403);
    const { body } = await user.send('GET', `${listPath(list)}?limit=1000&requestType=FETCH`);
    const listed = body.data.items.find((code: { id: number }) => code.id === id);
    expect(listed.disabled, list.noun).toBe(true);
    await admin.send('PUT', list.path, { id, disabled: '' });
    expect(await got(list, id)).not.toHaveProperty('disabled');
  }
  const { measureUnitTypes, semiProducts } = CODE_LISTS;
  const unit = await added(measureUnitTypes, { ...small(measureUnitTypes), disabled: true });
  const cherry = await added(semiProducts, { name: 'Cherry', measurementUnitType: { id: unit } });
  expect((await got(semiProducts, cherry)).measurementUnitType).toMatchObject({ id: unit, disabled: true });
});
