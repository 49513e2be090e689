import { expect, test } from 'vitest';
import { bodyOf, profileOf } from './profile.ts';

const FILE = { id: 1, storageKey: 'key', name: 'logo.png', contentType: 'image/png', size: 5 };

test('the form of a company that was read makes a body that changes nothing', () => {
  const company = {
    id: 3,
    name: 'Kopanyi',
    headquarters: { city: 'Huye', country: { id: 184, code: 'RW', name: 'Rwanda' } },
    mediaLinks: { mastodon: 'https://social.example' },
    allowBeycoIntegration: true,
    logo: FILE,
    documents: [{ id: 4, type: 'FILE', name: 'Harvest', document: FILE }],
    certifications: [],
    valueChains: [{ id: 2, name: 'Coffee', valueChainStatus: 'ENABLED' }],
    currency: { id: 7, code: 'RWF', label: 'Rwandan Franc', enabled: true },
  };
  expect(bodyOf(profileOf(company), profileOf(company))).toEqual({
    mediaLinks: { mastodon: 'https://social.example' },
    documents: [{ id: 4, type: 'FILE', name: 'Harvest', document: { storageKey: 'key' } }],
    certifications: [],
    valueChains: [{ id: 2 }],
  });
  const cleared = profileOf(company);
  Object.assign(cleared.values, {
    'headquarters.country.id': '',
    'headquarters.city': '',
    'currency.code': '',
  });
  cleared.logo = undefined;
  expect(bodyOf(cleared, profileOf(company))).toMatchObject({
    headquarters: { city: '', country: '' },
    currency: '',
    logo: '',
  });
  // Settings without effect are not in the form, so that their values stay.
  expect(profileOf(company).values).not.toHaveProperty('allowBeycoIntegration');
});

test('a new company has only what is filled in', () => {
  const profile = profileOf();
  Object.assign(profile.values, { name: 'Kopanyi', 'headquarters.country.id': '184' });
  profile.logo = FILE;
  expect(bodyOf(profile)).toEqual({
    name: 'Kopanyi',
    headquarters: { country: { id: '184' } },
    logo: { storageKey: 'key' },
    mediaLinks: {},
    documents: [],
    certifications: [],
    valueChains: [],
  });
});
