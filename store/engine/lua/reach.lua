#!lua
-- reach: note when an account was last known to be reached, or not to be: the later of two words counts, not the one
-- that was told later.
-- KEYS     1 the account {principal name username since lost heard}
-- ARGV     1 'lost' or 'heard'   2 how long ago that was, ms
-- returns  1, or 0: a later word of the same was noted already, or it is nobody's, so nothing was done
if redis.call('HEXISTS', KEYS[1], 'principal') == 0 then return 0 end
local t = redis.call('TIME')
local at = t[1] * 1000 + math.floor(t[2] / 1000) - ARGV[2]
if at <= tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], at)
return 1
