import fc from 'fast-check';

// The same cases in every run; another seed by OSTLER_PROPERTY_SEED, to look for new ones.
const usualSeed = 20_261_130;
const given = Number(process.env['OSTLER_PROPERTY_SEED'] ?? Number.NaN);
fc.configureGlobal({ seed: Number.isInteger(given) ? given : usualSeed });
