using System.Buffers.Binary;

namespace Cairn.Protocol;

/// <summary>Creates streams of messages. Most are valid, some of them are then damaged, and a few are only noise.</summary>
internal static class RandomMessages
{
    private static readonly int[] BinaryExtras = [0, 0, 0, 4, 8, 20, 24];

    private static readonly byte[][] StorageNames = Words("set add replace append prepend");
    private static readonly byte[][] OtherLines = Words(
        "version|mn|stats|stats items|flush_all|flush_all 10 noreply|verbosity 1|quit|lru_crawler metadump all|cache_memlimit 64|"
        + "shutdown|me a|me YQ== b|slabs automove 1|watch|GET / HTTP/1.1|nonsense|get|set|mg|ms|incr a",
        '|');

    private static readonly byte[][] MetaFlags = Words("b c f h k l q s t u v C7 D5 F9 I J3 L/x ME MR N30 O123 P R10 T60 T-1 z M+ MD");
    private static readonly byte[][] Numbers = Words(
        "0 1 5 10 60 -1 4294967295 4294967296 2147483647 2147483646 18446744073709551615 18446744073709551616 9223372036854775807 x +1 01 1\t2");

    private static readonly byte[][] ReplyLines = Words(
        "END|STORED|NOT_STORED|EXISTS|NOT_FOUND|DELETED|TOUCHED|OK|RESET|ERROR|CLIENT_ERROR bad|SERVER_ERROR busy|VERSION 1.6|"
        + "STAT pid 1|STAT a|HD|HD O1 c7|EN|NS|EX|NF|MN|ME a exp=-1|12345|key=a exp=1|VALUE a|VA|VA x",
        '|');

    private static readonly byte[][] InlineWords = Words("GET|SET|\"a b\"|'a b'|\"\\x41\\n\"|'it\\'s'|a\"b\"|\"\"|a\\b|\"|'|x", '|');

    public static void MemcachedRequests(Random random, InputBuilder input) =>
        Messages(random, input, MemcachedRequest);

    public static void MemcachedBinaryRequests(Random random, InputBuilder input) =>
        Messages(random, input, MemcachedBinaryRequest);

    public static void MemcachedReplies(Random random, InputBuilder input) =>
        Messages(random, input, MemcachedReply);

    public static void RespRequests(Random random, InputBuilder input) => Messages(random, input, RespRequest);

    public static void RespReplies(Random random, InputBuilder input) =>
        Messages(random, input, (r, i) => RespReply(r, i, depth: 0));

    private static void Messages(Random random, InputBuilder input, FuzzRun.Make message)
    {
        if (random.Next(16) == 0)
        {
            input.AddTelling(random, random.Next(64));
            return;
        }

        for (int i = random.Next(1, 5); i > 0; i--)
        {
            message(random, input);
        }

        if (random.Next(2) == 0)
        {
            input.Spoil(random);
        }
    }

    private static void MemcachedBinaryRequest(Random random, InputBuilder input)
    {
        int keyBytes = random.Next(3) == 0 ? 0 : random.Next(20) == 0 ? random.Next(240, 260) : random.Next(10);
        int extrasBytes = BinaryExtras[random.Next(BinaryExtras.Length)];
        int valueBytes = random.Next(2) == 0 ? 0 : random.Next(30);
        Span<byte> header = stackalloc byte[24];
        random.NextBytes(header);
        header[0] = 0x80;
        header[1] = (byte)random.Next(0x28);
        BinaryPrimitives.WriteUInt16BigEndian(header[2..], (ushort)keyBytes);
        header[4] = (byte)extrasBytes;
        BinaryPrimitives.WriteInt32BigEndian(header[8..], keyBytes + extrasBytes + valueBytes);
        input.Add(header).AddTelling(random, keyBytes + extrasBytes + valueBytes);
    }

    private static void MemcachedRequest(Random random, InputBuilder input)
    {
        switch (random.Next(10))
        {
            case 0 or 1:
                input.Add(random.Next(2) == 0 ? "get"u8 : "gets"u8);
                Keys(random, input);
                break;

            case 2:
                input.Add(random.Next(2) == 0 ? "gat "u8 : "gats "u8).Add(Number(random));
                Keys(random, input);
                break;

            case 3 or 4:
                Storage(random, input);
                return;

            case 5:
                input.Add(random.Next(2) == 0 ? "incr "u8 : "touch "u8);
                Key(random, input);
                input.Add(" "u8).Add(Number(random));
                NoReply(random, input);
                break;

            case 6:
                input.Add("delete "u8);
                Key(random, input);
                NoReply(random, input);
                break;

            case 7:
                input.Add(random.Next(3) switch { 0 => "mg "u8, 1 => "md "u8, _ => "ma "u8 });
                Key(random, input);
                Flags(random, input);
                break;

            case 8:
                MetaSet(random, input);
                return;

            default:
                input.Add(Any(random, OtherLines));
                break;
        }

        LineEnd(random, input);
    }

    private static void Storage(Random random, InputBuilder input)
    {
        bool isCas = random.Next(5) == 0;
        input.Add(isCas ? "cas"u8 : Any(random, StorageNames)).Add(" "u8);
        Key(random, input);
        int length = random.Next(4) == 0 ? random.Next(300) : random.Next(6);
        input.Add(" "u8).Add(Number(random)).Add(" "u8).Add(Number(random)).Add(" "u8).Add(length);
        if (isCas)
        {
            input.Add(" "u8).Add(Number(random));
        }

        NoReply(random, input);
        LineEnd(random, input);
        Data(random, input, length);
    }

    private static void MetaSet(Random random, InputBuilder input)
    {
        int length = random.Next(6);
        input.Add("ms "u8);
        Key(random, input);
        input.Add(" "u8).Add(length);
        Flags(random, input);
        LineEnd(random, input);
        Data(random, input, length);
    }

    private static void MemcachedReply(Random random, InputBuilder input)
    {
        int length = random.Next(8);
        switch (random.Next(4))
        {
            case 0:
                input.Add("VALUE "u8);
                Key(random, input);
                input.Add(" "u8).Add(Number(random)).Add(" "u8).Add(length);
                if (random.Next(2) == 0)
                {
                    input.Add(" "u8).Add(Number(random));
                }

                LineEnd(random, input);
                Data(random, input, length);
                break;

            case 1:
                input.Add("VA "u8).Add(length);
                Flags(random, input);
                LineEnd(random, input);
                Data(random, input, length);
                break;

            default:
                input.Add(Any(random, ReplyLines));
                LineEnd(random, input);
                break;
        }
    }

    private static void RespRequest(Random random, InputBuilder input)
    {
        if (random.Next(4) == 0)
        {
            for (int i = random.Next(5); i > 0; i--)
            {
                input.Add(Any(random, InlineWords)).Add(random.Next(5) == 0 ? "\t "u8 : " "u8);
            }

            LineEnd(random, input);
            return;
        }

        int count = random.Next(10) == 0 ? random.Next(-2, 40) : random.Next(1, 5);
        input.Add("*"u8).Add(count).Add("\r\n"u8);
        for (int i = 0; i < count; i++)
        {
            int length = random.Next(20) == 0 ? random.Next(300) : random.Next(8);
            input.Add("$"u8).Add(length).Add("\r\n"u8);
            Data(random, input, length);
        }
    }

    private static void RespReply(Random random, InputBuilder input, int depth)
    {
        int count = depth > 4 ? 0 : random.Next(4);
        int length = random.Next(10);
        switch (random.Next(16))
        {
            case 0: input.Add("+OK\r\n"u8); break;
            case 1: input.Add("-ERR no\r\n"u8); break;
            case 2: input.Add(":"u8).Add(Number(random)).Add("\r\n"u8); break;
            case 3: input.Add("$-1\r\n"u8); break;
            case 4: input.Add("*-1\r\n"u8); break;
            case 5: input.Add("_\r\n"u8); break;
            case 6: input.Add(random.Next(2) == 0 ? "#t\r\n"u8 : "#f\r\n"u8); break;
            case 7: input.Add(random.Next(3) switch { 0 => ",1.5e3\r\n"u8, 1 => ",-inf\r\n"u8, _ => ",nan\r\n"u8 }); break;
            case 8: input.Add("("u8).Add(Number(random)).Add("\r\n"u8); break;
            case 9 or 10 or 11:
                input.Add(random.Next(4) == 0 ? "!"u8 : "$"u8).Add(length).Add("\r\n"u8);
                Data(random, input, length);
                break;

            case 12:
                input.Add("="u8).Add(length + 4).Add("\r\ntxt:"u8);
                Data(random, input, length);
                break;

            case 13:
                input.Add(random.Next(2) == 0 ? "%"u8 : "|"u8).Add(count).Add("\r\n"u8);
                Elements(random, input, 2 * count, depth);
                break;

            default:
                input.Add(random.Next(3) switch { 0 => "*"u8, 1 => "~"u8, _ => ">"u8 }).Add(count).Add("\r\n"u8);
                Elements(random, input, count, depth);
                break;
        }
    }

    private static void Elements(Random random, InputBuilder input, int count, int depth)
    {
        for (int i = 0; i < count; i++)
        {
            RespReply(random, input, depth + 1);
        }
    }

    private static void Keys(Random random, InputBuilder input)
    {
        for (int i = random.Next(1, random.Next(4) == 0 ? 40 : 3); i > 0; i--)
        {
            input.Add(" "u8);
            Key(random, input);
        }
    }

    private static void Key(Random random, InputBuilder input)
    {
        switch (random.Next(16))
        {
            case 0:
                input.AddFill((byte)'k', random.Next(245, 255));
                break;

            case 1:
                input.Add("YWJjZA=="u8);
                break;

            default:
                input.Add("book:"u8).Add(random.Next(1000));
                break;
        }
    }

    private static void Flags(Random random, InputBuilder input)
    {
        for (int i = random.Next(random.Next(20) == 0 ? 25 : 5); i > 0; i--)
        {
            input.Add(" "u8).Add(Any(random, MetaFlags));
        }
    }

    private static void NoReply(Random random, InputBuilder input)
    {
        if (random.Next(4) == 0)
        {
            input.Add(" noreply"u8);
        }
    }

    private static void LineEnd(Random random, InputBuilder input) => input.Add(random.Next(8) == 0 ? "\n"u8 : "\r\n"u8);

    private static void Data(Random random, InputBuilder input, int length)
    {
        if (random.Next(2) == 0)
        {
            input.AddTelling(random, length);
        }
        else
        {
            input.AddFill((byte)'d', length);
        }

        input.Add("\r\n"u8);
    }

    private static ReadOnlySpan<byte> Number(Random random) =>
        random.Next(3) == 0 ? Any(random, Numbers) : Numbers[random.Next(4)];

    private static byte[] Any(Random random, byte[][] words) => words[random.Next(words.Length)];

    private static byte[][] Words(string text, char separator = ' ') => [.. text.Split(separator).Select(Latin.Bytes)];
}
