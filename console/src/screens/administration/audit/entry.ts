/** An entry of the audit, as far as its sentence needs it. */
export interface Entry {
  action: string;
  entity: string;
  entityId: string;
  details: Readonly<Record<string, unknown>>;
}

/** Something that an entry is about: its id leads to its name, unless the entry has it. */
export interface Thing {
  /** of the audit; also label, batch, key, and entry for one of a knowledge blog */
  kind: string;
  id: string;
  name?: string | undefined;
}

const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value));
const thing = (kind: string, id: unknown, name?: unknown): Thing => ({
  kind,
  id: String(id),
  name: textOf(name),
});

/** The subject of an entry. */
export function whatOf({ action, entity, entityId, details }: Entry): Thing {
  if (/_API_KEY$/.test(action)) return thing('key', details.key ?? '', details.name);
  if (action === 'MERGE_TO_COMPANY') return thing('company', details.from ?? entityId);
  if (/_LABEL_BATCH$/.test(action)) return thing('batch', details.batchId ?? '', details.number);
  if (/_FINAL_PRODUCT$/.test(action)) return thing('final', details.finalProductId ?? '', details.name);
  if (/_PRODUCT_KNOWLEDGE$/.test(action)) return thing('entry', details.entryId ?? '', details.title);
  if (details.labelId !== undefined) return thing('label', details.labelId);
  return thing(entity, entityId, entity === 'user' ? undefined : (details.name ?? details.label));
}

/** The second thing of an entry, such as the company of a user; undefined if there is none. */
export function otherOf({ action, entityId, details }: Entry): Thing | undefined {
  if (action === 'MERGE_TO_COMPANY') return thing('company', details.into);
  if (/_LABEL_BATCH$/.test(action)) return thing('label', details.labelId);
  if (/_FINAL_PRODUCT$|_PRODUCT_KNOWLEDGE$/.test(action)) return thing('product', entityId);
  if (action === 'LEAVE_PRODUCT' || action === 'ALLOW_PRODUCT') return thing('company', details.companyId);
  return details.userId === undefined ? undefined : thing('user', details.userId);
}

/** The code lists that have pages of their own. */
const CODES =
  /^(product-type|semi-product|facility-type|measure-unit-type|processing-evidence-(type|field))$/;

/** The address of all entries about the record of an entry. */
export const entriesOf = (entity: string, id: string) =>
  `/administration/audit?${new URLSearchParams({ entity, entityId: id })}`;

/** Where a thing can be seen; undefined if it has no page, or is gone with this entry. */
export function pageOf({ kind, id }: Thing, action: string): string | undefined {
  if (/^(DELETE|ERASE)_/.test(action) && kind !== 'product' && kind !== 'label') return undefined;
  if (action === 'DELETE_PRODUCT' || action === 'DELETE_LABEL') return undefined;
  if (CODES.test(kind)) return `/code-lists/${kind}s/${id}`;
  const pages: Partial<Record<string, string>> = {
    company: `/companies/${id}`,
    product: action === 'UPDATE_PRODUCT' ? `/products/${id}/history` : `/products/${id}`,
    label: `/labels/${id}`,
    'value-chain': `/value-chains/${id}`,
    currency: '/currency',
    setting: '/administration/settings',
    user: entriesOf('user', id),
  };
  return Object.hasOwn(pages, kind) ? pages[kind] : undefined;
}

/** A word of a line: a message, or a text where there is none. */
export interface Word {
  key?: string;
  text: string;
}

/** A detail of an entry, below its sentence. */
export interface Line {
  /** the message that names it */
  title: string;
  words: Word[];
  /** whether the first word became the second one */
  isChange?: boolean;
}

/** The prefixes of messages about a change, by the kind of the record and the detail. */
const CHANGES: Partial<Record<string, readonly [title: string, prefix: string]>> = {
  'user.status': ['administration.status', 'administration.status'],
  'user.role': ['administration.role', 'administration.role'],
  'company.status': ['administration.status', 'companies.status'],
  'company.companyRole': ['companies.role', 'companies.role'],
};

/** The lines of an entry: changed fields, old and new values, and why something was refused. */
export function linesOf({ action, entity, entityId, details }: Entry): Line[] {
  const lines: Line[] = [];
  for (const [name, value] of Object.entries(details)) {
    const change = CHANGES[`${entity}.${name}`];
    if (change && Array.isArray(value) && value[0] !== value[1]) {
      const [title, prefix] = change;
      lines.push({ title, isChange: true, words: value.slice(0, 2).map(code => codeWord(prefix, code)) });
    }
  }
  if (Array.isArray(details.fields)) {
    const words = details.fields.map(field => fieldWord(entity, String(field)));
    lines.push({ title: 'administration.audit.changed', words: onlyOnce(words) });
  }
  for (const [name, title] of Object.entries(TEXTS)) {
    const text = textOf(details[name]);
    if (text === undefined) continue;
    const isLogin = action === 'LOGIN_FAILED' && name === 'reason';
    lines.push({ title, words: [isLogin ? loginWord(text, entityId) : { text }] });
  }
  if (details.route !== undefined) {
    const text = [details.method, details.route].filter(Boolean).join(' ');
    lines.push({ title: 'administration.audit.request', words: [{ text }] });
  }
  return lines;
}

/** Details that are texts, with the messages of their names. */
const TEXTS = { reason: 'administration.audit.reason', file: 'administration.audit.file' } as const;

/** Why a login failed; without an account, its entry is of the hash of the address. */
function loginWord(reason: string, entityId: string): Word {
  const why = reason === 'password' && !/^\d+$/.test(entityId) ? 'nobody' : reason;
  return { key: `administration.audit.login.${why}`, text: reason };
}

const codeWord = (prefix: string, code: unknown): Word =>
  code === null
    ? { key: 'products.choice.none', text: '' }
    : { key: `${prefix}.${code}`, text: String(code) };

function onlyOnce(words: readonly Word[]): Word[] {
  return [...new Map(words.map(word => [word.key ?? word.text, word])).values()];
}

/** The fields whose messages are not named like them, by the kind of the record. */
const FIELDS: Partial<Record<string, Partial<Record<string, string>>>> = {
  company: {
    logo: 'companies.logo',
    documents: 'companies.documents',
    mediaLinks: 'companies.medium.other',
    certifications: 'companies.certifications',
    valueChains: 'companies.group.valueChains',
    headquarters: 'companies.group.address',
  },
  product: {
    photo: 'products.photo',
    origin: 'products.group.origin',
    company: 'products.owner',
    process: 'products.group.story',
    responsibility: 'products.group.story',
    sustainability: 'products.group.story',
    settings: 'products.group.settings',
    valueChain: 'products.valueChain',
    associatedCompanies: 'products.partners',
    dataSharingAgreements: 'products.agreements',
    journeyMarkers: 'products.journey',
    businessToCustomerSettings: 'consumer.title',
  },
  setting: {
    value: 'administration.audit.setting.value',
    isPublic: 'administration.audit.setting.isPublic',
  },
  user: {
    name: 'session.name',
    surname: 'session.surname',
    password: 'session.password',
    language: 'account.language',
    discoverable: 'account.discoverable',
  },
};
/** The areas whose messages name the other fields as the forms do. */
const AREAS: Partial<Record<string, string>> = { company: 'companies', product: 'products' };

function fieldWord(entity: string, path: string): Word {
  const [first = '', ...others] = path.split('.');
  const name = others.at(-1) ?? first;
  const own = FIELDS[entity];
  const key = own && Object.hasOwn(own, name) ? own[name] : undefined;
  return { key: key ?? `${AREAS[entity] ?? 'codes'}.field.${name}`, text: path };
}
