#!lua
-- own: make an account somebody's, or nobody's, where it is nobody's yet, or is whose it was thought to be.
-- KEYS     1 the account {principal name username since lost}
-- ARGV     1 whose it may be   2 whose else, or ''   3… its fields and their values from now on; none: it is forgotten
-- returns  whose it is then, '' for nobody's
local is = redis.call('HGET', KEYS[1], 'principal')
if is and is ~= ARGV[1] and is ~= ARGV[2] then return is end
redis.call('DEL', KEYS[1])
if #ARGV == 2 then return '' end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return redis.call('HGET', KEYS[1], 'principal')
