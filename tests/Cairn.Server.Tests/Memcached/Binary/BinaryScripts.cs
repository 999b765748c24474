using static Cairn.Server.Tests.Memcached.Binary.BinaryRequest;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>Requests of the binary protocol that memcached gets too: each opcode, and each way in which it can be malformed.</summary>
internal static class BinaryScripts
{
    private static readonly byte[] s_opcodes = [.. Enumerable.Range(0, 0x48).Select(opcode => (byte)opcode)];

    public static IEnumerable<byte[]> All =>
    [
        .. s_scripts.Select(script => script.SelectMany(request => request).ToArray()),

        // A request without anything, with a key, and with extras of each length.
        .. s_opcodes.Where(opcode => opcode is not Verbosity).Select(opcode => Make(opcode, opaque: 5)).Where(IsComparable),
        .. s_opcodes.Select(opcode => Make(opcode, "a")).Where(IsComparable),
        .. s_opcodes.SelectMany(opcode => new[] { 4, 8, 20, 24 }.Select(length => Make(opcode, "a", new byte[length], "v"))).Where(IsComparable),
    ];

    private static readonly byte[][][] s_scripts =
    [
        [Store(Set, "a", "1", flags: 7), Make(Get, "a", opaque: 9), Make(GetK, "a", opaque: 10), Make(Get, "b"), Make(GetK, "b")],
        [Store(SetQ, "a", "1"), Make(GetQ, "a", opaque: 1), Make(GetQ, "b", opaque: 2), Make(GetKQ, "a", opaque: 3), Make(GetKQ, "b", opaque: 4), Make(Noop, opaque: 5)],
        [Store(Add, "a", "1"), Store(Add, "a", "2"), Store(AddQ, "a", "2"), Store(AddQ, "b", "2"), Make(Get, "a"), Make(Get, "b")],
        [Store(Replace, "a", "1"), Store(Set, "a", "1"), Store(Replace, "a", "2", flags: 3), Store(ReplaceQ, "a", "3"), Store(ReplaceQ, "b", "3"), Make(Get, "a")],
        [Make(Append, "a", value: "1"), Store(Set, "a", "b", flags: 5), Make(Append, "a", value: "c"), Make(Prepend, "a", value: "a"), Make(Get, "a"),
            Make(AppendQ, "a", value: "d"), Make(PrependQ, "a", value: "_"), Make(AppendQ, "b", value: "x"), Make(Get, "a"), Make(Append, "a"), Make(Get, "a")],
        [Store(Set, "a", ""), Make(Get, "a"), Make(Append, "a", value: "x"), Make(Get, "a")],
        [Make(Delete, "a"), Make(DeleteQ, "a"), Store(Set, "a", "1"), Make(Delete, "a"), Store(Set, "a", "1"), Make(DeleteQ, "a"), Make(Get, "a")],
        [Store(Set, "a", "1"), Make(Delete, "a", version: 999_999_999_999), Make(DeleteQ, "a", version: 999_999_999_999), Make(Get, "a")],
        [Store(Set, "a", "1", version: 5), Store(Add, "a", "1", version: 5), Store(Replace, "a", "1", version: 5), Make(Append, "a", value: "x", version: 5)],
        [Store(Set, "a", "1"), Store(Set, "a", "2", version: 999_999_999_999), Store(Add, "a", "2", version: 999_999_999_999),
            Store(SetQ, "a", "2", version: 999_999_999_999), Make(Append, "a", value: "2", version: 999_999_999_999), Make(Get, "a")],
        [Count(Increment, "a", 5, initial: 10, seconds: NoCreation), Count(Increment, "a", 5, initial: 10), Count(Increment, "a", 5, initial: 10), Make(Get, "a")],
        [Count(Decrement, "a", 5, initial: 10), Count(Decrement, "a", 3), Count(Decrement, "a", 100), Make(Get, "a")],
        [Count(IncrementQ, "a", 5, initial: 10), Count(IncrementQ, "a", 5), Count(DecrementQ, "a", 1), Count(DecrementQ, "b", 1, seconds: NoCreation), Make(Get, "a")],
        [Count(Increment, "a", 1, initial: ulong.MaxValue), Count(Increment, "a", 2), Count(Increment, "a", ulong.MaxValue), Make(Get, "a")],
        [Store(Set, "a", "x1"), Count(Increment, "a", 1), Count(IncrementQ, "a", 1), Count(Decrement, "a", 1, seconds: NoCreation), Store(Set, "a", ""), Count(Increment, "a", 1)],
        [Store(Set, "a", "100"), Count(Decrement, "a", 99), Make(Get, "a"), Make(Append, "a", value: "1"), Make(Get, "a")],
        [Store(Set, "a", "5"), Count(Increment, "a", 1, version: 999_999_999_999), Make(Get, "a")],
        [WithTime(Touch, "a", 100), Store(Set, "a", "1", flags: 9), WithTime(Touch, "a", 100), WithTime(Touch, "a", 0), Make(Get, "a")],
        [WithTime(Gat, "a", 100), WithTime(GatQ, "a", 100), WithTime(GatK, "a", 100), WithTime(GatKQ, "a", 100), Make(Noop)],
        [Store(Set, "a", "12", flags: 9), WithTime(Gat, "a", 100), WithTime(GatQ, "a", 100), WithTime(GatK, "a", 100), WithTime(GatKQ, "a", 0), Make(Get, "a")],
        [Store(Set, "a", "1", seconds: 2_592_001), Make(Get, "a"), Store(Set, "b", "1", seconds: 100), Make(Get, "b"), Store(Set, "c", "1", seconds: uint.MaxValue), Make(Get, "c")],
        [Store(Set, "a", "1"), WithTime(Touch, "a", 2_592_001), Make(Get, "a"), Store(Set, "a", "1"), WithTime(Gat, "a", 2_592_001), Make(Get, "a")],
        [Store(Set, "a", "1"), Make(Flush), Make(Get, "a"), Store(Set, "a", "1"), Make(FlushQ), Make(Get, "a"), Store(Set, "a", "1"), WithTime(Flush, "", 0), Make(Get, "a")],
        [Store(Set, "a", "1"), WithTime(Flush, "", 1000), Make(Get, "a"), WithTime(FlushQ, "", 1000), Make(Get, "a"), Make(Flush)],
        [Make(Noop, opaque: 0xDEAD), Make(ShowVersion), Make(Noop)],
        [Make(ShowVersion), Make(Quit), Make(ShowVersion)],
        [Make(ShowVersion), Make(QuitQ), Make(ShowVersion)],
        [Make(Stat, "reset"), Make(Stat, "unknown"), Make(Stat, "detail off"), Make(Stat, "detail x"), Make(Stat, "sizes"), Make(Stat, "extstore")],
        [Make(Stat, "detail on"), Store(Set, "a:1", "x"), Make(Get, "a:1"), Make(Get, "a:2"), Make(Delete, "a:1"), Make(Stat, "detail dump"), Make(Stat, "detail off"), Make(Stat, "reset")],
        [Make(SaslList), Make(SaslAuth, "PLAIN", value: "\0user\0password"), Make(SaslStep, "PLAIN", value: "x"), Make(Noop)],
        [Store(Set, "key with\0 any\r\nbytes\xff", "\r\n\0"), Make(GetK, "key with\0 any\r\nbytes\xff"), Make(Delete, "key with\0 any\r\nbytes\xff")],
        [Store(Set, new string('k', 250), "1"), Make(GetK, new string('k', 250)), Make(Get, new string('k', 251)), Make(Noop)],
        [Store(Set, new string('k', 251), "1"), Make(Noop)],
        [Store(Set, "a", "1"), Store(Set, "a", new string('x', 1 << 20)), Make(Get, "a")],
        [Store(Set, "a", "1"), Store(Add, "a", new string('x', 1 << 20)), Store(SetQ, "b", new string('x', 1 << 20)), Make(Append, "a", value: new string('x', 1 << 20)), Make(Get, "a")],
        [Store(Set, "a", new string('x', 900_000)), Make(GetK, "a"), Make(Append, "a", value: new string('x', 300_000)), WithTime(Gat, "a", 100)],
        [Store(Set, "a", new string('x', 100_000)), Make(GetQ, "a"), Make(GetQ, "b"), Make(GetQ, "a"), Make(Noop)],
        [Make(0x50), Make(0xff, opaque: 3), Make(Noop)],
        [[0x81, .. Make(Noop)[1..]], Make(Noop)],
        [[.. "get a\r\n"u8], new byte[24]],
        [WithKeyLength(Make(Get, "a"), 2), Make(Noop)],
        [WithKeyLength(Make(Get, "abc"), 2), Make(Noop)],
        [Make(Get, "a", value: "x"), Make(Noop)],
        [WithTime(Gat, "", 100), Make(Noop)],
        [Make(Delete, "a", value: "x"), Make(Noop)],
        [Store(Set, "", "x"), Make(Noop)],
        [WithTime(Flush, "a", 1), Make(Noop)],
        [Make(Quit, "a"), Make(Noop)],
        [Make(Noop, "a"), Make(Noop)],
        [Make(Set, "a", new byte[4], "x"), Make(Noop)],
        [Make(ShowVersion)[..20]],
        [Store(Set, "a", "12345")[..30]],
    ];

    // memcached does not know the opcode verbosity, and it skips too many bytes after unknown opcodes with a key.
    private static bool IsComparable(byte[] request) => request[1] <= GatKQ && request[1] is not (Verbosity or 0x1f or Stat);

    private static byte[] WithKeyLength(byte[] request, byte length)
    {
        request[3] = length;
        return request;
    }
}
