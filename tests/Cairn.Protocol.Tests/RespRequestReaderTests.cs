using System.Globalization;
using System.Text;

namespace Cairn.Protocol;

/// <summary>Each form of request, and each error. The expected errors are replies of Redis 7.0.15.</summary>
public class RespRequestReaderTests
{
    public static TheoryData<string, string> Requests => new()
    {
        // Arrays.
        { "*1\r\n$4\r\nPING\r\n", "PING" },
        { "*2\r\n$3\r\nGET\r\n$7\r\nbook:42\r\n", "GET|book:42" },
        { "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$0\r\n\r\n", "SET|a|" },
        { "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\r\n\0\xFF\r\n", "SET|a|\r\n\0\xFF" },
        { "*2\r\n$4\r\nECHO\r\n$12\r\nhello, world\r\n", "ECHO|hello, world" },
        { "*0\r\n", "" },
        { "*-1\r\n", "" },
        { "*-10\r\n", "" },

        // Redis does not check the bytes that end a line or a string.
        { "*1\rX$4\rYPINGzz", "PING" },

        // Inline.
        { "PING\r\n", "PING" },
        { "PING\n", "PING" },
        { "\r\n", "" },
        { "\n", "" },
        { "  \t \r\n", "" },
        { "  SET  a\t1 \r\n", "SET|a|1" },
        { "PING\rx\r\n", "PING|x" },
        { "PING a\vb\r\n", "PING|a\vb" },
        { "PING \v\fa\r\n", "PING|a" },
        { "PING a\0b\r\n", "PING|a\0b" },
        { "PING \"a b\"\r\n", "PING|a b" },
        { "PING 'a b'\r\n", "PING|a b" },
        { "PING \"\" ''\r\n", "PING||" },
        { "PING a\"b c\" d\r\n", "PING|ab c|d" },
        { "PING \"a\"\v\r\n", "PING|a" },
        { "PING 'a\\'b\\n\\\\ '\r\n", "PING|a'b\\n\\\\ " },
        { "PING \"\\x41\\n\\r\\t\\b\\a\\q\\\"\\xzz\\x4\"\r\n", "PING|A\n\r\t\b\aq\"xzzx4" },
        { "PING '\\x41'\r\n", "PING|\\x41" },
        { "PING \"\\xfF\"\r\n", "PING|\xFF" },
        { "\"SET\" 'a' \"b\"\r\n", "SET|a|b" },
    };

    public static TheoryData<string, string> Errors => new()
    {
        { "*\r\n", "Protocol error: invalid multibulk length" },
        { "*+1\r\n", "Protocol error: invalid multibulk length" },
        { "*01\r\n", "Protocol error: invalid multibulk length" },
        { "* 1\r\n", "Protocol error: invalid multibulk length" },
        { "*1x\r\n", "Protocol error: invalid multibulk length" },
        { "*1048577\r\n", "Protocol error: invalid multibulk length" },
        { "*2147483648\r\n", "Protocol error: invalid multibulk length" },
        { "*111111111111111111111111111111\r\n", "Protocol error: invalid multibulk length" },
        { "*1\r\n$04\r\n", "Protocol error: invalid bulk length" },
        { "*1\r\n$-1\r\n", "Protocol error: invalid bulk length" },
        { "*1\r\n$x\r\n", "Protocol error: invalid bulk length" },
        { "*1\r\n$\r\n", "Protocol error: invalid bulk length" },
        { "*1\r\n$536870913\r\n", "Protocol error: invalid bulk length" },
        { "*1\r\nx4\r\n", "Protocol error: expected '$', got 'x'" },
        { "*1\r\n:4\r\n", "Protocol error: expected '$', got ':'" },
        { "*2\r\n$4\r\nPING\r\nPING\r\n", "Protocol error: expected '$', got 'P'" },
        { "*1\r\n\r\n", "Protocol error: expected '$', got ' '" },
        { "*1\r\n\n\r\n", "Protocol error: expected '$', got ' '" },
        { "*1\r\n\xFF\r\n", "Protocol error: expected '$', got '\xFF'" },
        { "PING \"a\r\n", "Protocol error: unbalanced quotes in request" },
        { "PING 'a\r\n", "Protocol error: unbalanced quotes in request" },
        { "PING \"a\"b\r\n", "Protocol error: unbalanced quotes in request" },
        { "PING 'a''b'\r\n", "Protocol error: unbalanced quotes in request" },
        { "PING \"a\\\r\n", "Protocol error: unbalanced quotes in request" },
    };

    [Theory]
    [MemberData(nameof(Requests))]
    public void Request_is_read(string input, string expected)
    {
        var reader = new RespRequestReader();

        Assert.Equal(expected, Read(reader, Latin.Bytes(input + "*1\r\n"), out int consumed));
        Assert.Equal(input.Length, consumed);
    }

    [Theory]
    [MemberData(nameof(Errors))]
    public void Error_is_the_one_Redis_reports_and_nothing_is_read_after_it(string input, string expected)
    {
        var reader = new RespRequestReader();

        Assert.Equal("Fatal " + expected, Read(reader, Latin.Bytes(input), out int consumed));
        Assert.Equal(0, consumed);
        Assert.Equal("Fatal " + expected, Read(reader, "PING\r\n"u8, out _));
    }

    [Theory]
    [MemberData(nameof(Requests))]
    public void Request_cut_anywhere_is_incomplete_and_then_read_as_in_one_piece(string input, string expected)
    {
        var bytes = Latin.Bytes(input);

        for (int cut = 0; cut < bytes.Length; cut++)
        {
            var reader = new RespRequestReader();

            Assert.Equal("Incomplete", Read(reader, bytes.AsSpan(0, cut), out int consumed));
            Assert.Equal(0, consumed);
            Assert.InRange(reader.NeededBytes, cut + 1, bytes.Length);
            Assert.Equal(expected, Read(reader, bytes, out consumed));
            Assert.Equal(bytes.Length, consumed);
        }
    }

    [Theory]
    [MemberData(nameof(Requests))]
    public void Request_that_comes_byte_by_byte_is_read_as_in_one_piece(string input, string expected)
    {
        var bytes = Latin.Bytes(input);
        var reader = new RespRequestReader();

        for (int end = 0; end < bytes.Length; end++)
        {
            // Each call gets another array, because the reader keeps no reference to an input.
            Assert.Equal("Incomplete", Read(reader, bytes.AsSpan(0, end).ToArray(), out _));
        }

        Assert.Equal(expected, Read(reader, bytes, out _));
    }

    [Theory]
    [MemberData(nameof(Errors))]
    public void Error_is_the_same_however_the_request_is_cut(string input, string expected)
    {
        var bytes = Latin.Bytes(input);
        for (int cut = 0; cut < bytes.Length; cut++)
        {
            var reader = new RespRequestReader();
            string first = Read(reader, bytes.AsSpan(0, cut), out _);

            Assert.Contains(first, (string[])["Incomplete", "Fatal " + expected]);
            Assert.Equal("Fatal " + expected, Read(reader, bytes, out _));
        }
    }

    [Fact]
    public void Long_argument_says_how_many_bytes_it_needs()
    {
        var reader = new RespRequestReader();

        Read(reader, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1048576\r\nxyz"u8, out _);

        Assert.Equal(30 + 1048576 + 2, reader.NeededBytes);
    }

    [Fact]
    public void Requests_read_ahead_stay_valid_until_the_next_first_one()
    {
        var input = Latin.Bytes("*2\r\n$3\r\nGET\r\n$1\r\na\r\nSET 'x y' b\r\n*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n");
        var reader = new RespRequestReader();
        var read = new List<(int Start, RespRequest Request)>();
        int position = 0;
        while (true)
        {
            var rest = input.AsSpan(position);
            var status = position == 0
                ? reader.TryRead(rest, out var request, out int consumed)
                : reader.TryReadNext(rest, out request, out consumed);
            if (status != ParseStatus.Complete)
            {
                break;
            }

            read.Add((position, request));
            position += consumed;
        }

        Assert.Equal(
            ["GET|a", "SET|x y|b", "PING"],
            read.Select(r => Join(reader, input.AsSpan(r.Start), r.Request)));

        // The incomplete request continues, although the reader has forgotten the earlier ones.
        byte[] more = [.. input[position..], .. "$2\r\nhi\r\n"u8];
        Assert.Equal("ECHO|hi", Read(reader, more, out _));
    }

    [Fact]
    public void Argument_outside_the_request_is_refused()
    {
        var reader = new RespRequestReader();
        reader.TryRead("PING a\r\n"u8, out var request, out _);

        Assert.Throws<ArgumentOutOfRangeException>(() => reader.GetArgument("PING a\r\n"u8, request, 2));
        Assert.Throws<ArgumentOutOfRangeException>(() => reader.GetArgument("PING a\r\n"u8, request, -1));
    }

    [Theory]
    [InlineData(10, 0, "", "Incomplete")]
    [InlineData(11, 0, "", "Fatal Protocol error: unauthenticated multibulk length")]
    [InlineData(1, 16384, "", "Incomplete")]
    [InlineData(1, 16385, "$16385\r\n", "Fatal Protocol error: unauthenticated bulk length")]
    public void Unauthenticated_client_may_send_only_little(int count, int length, string rest, string expected)
    {
        var reader = new RespRequestReader { IsAuthenticated = false };
        rest = rest.Length > 0 || length == 0 ? rest : $"${length}\r\n";

        Assert.Equal(expected, Read(reader, Latin.Bytes($"*{count}\r\n{rest}"), out _));
    }

    [Theory]
    [InlineData("*", "Protocol error: too big mbulk count string")]
    [InlineData("*1\r\n$", "Protocol error: too big bulk count string")]
    [InlineData("", "Protocol error: too big inline request")]
    public void Line_may_have_64_KiB_and_no_more(string start, string expected)
    {
        int counted = start is "" ? 0 : 1; // The limit counts from the type byte.
        string longest = start + new string('1', 65536 - counted);

        Assert.Equal("Incomplete", Read(new RespRequestReader(), Latin.Bytes(longest), out _));
        Assert.Equal("Fatal " + expected, Read(new RespRequestReader(), Latin.Bytes(longest + "1"), out _));
        Assert.Equal("Fatal " + expected, Read(new RespRequestReader(), Latin.Bytes(longest + "1\r\n"), out _));
    }

    [Fact]
    public void Limits_are_the_callers()
    {
        var limits = new RespLimits { MaxArguments = 2, MaxBulkBytes = 10, MaxInlineBytes = 20, MaxRequestBytes = 30 };

        Assert.Equal("Fatal Protocol error: invalid multibulk length", Read(new(limits), "*3\r\n"u8, out _));
        Assert.Equal("Fatal Protocol error: invalid bulk length", Read(new(limits), "*2\r\n$11\r\n"u8, out _));
        Assert.Equal(
            "Fatal Protocol error: too big inline request", Read(new(limits), "PING 1234567890123456\n"u8, out _));
        Assert.Equal("PING|123456789012345", Read(new(limits), "PING 123456789012345\n"u8, out _));
        Assert.Equal("Fatal ", Read(new(limits), "*2\r\n$9\r\n123456789\r\n$10\r\n"u8, out _));
        Assert.Throws<ArgumentOutOfRangeException>(() => new RespRequestReader(new RespLimits { MaxBulkBytes = -1 }));
    }

    [Fact]
    public void Request_with_very_many_arguments_is_read_and_its_room_given_back()
    {
        const int count = 100_000;
        var input = new StringBuilder(string.Create(CultureInfo.InvariantCulture, $"*{count}\r\n"));
        for (int i = 0; i < count; i++)
        {
            input.Append("$1\r\n").Append((char)('0' + (i % 10))).Append("\r\n");
        }

        var bytes = Latin.Bytes(input.ToString());
        var reader = new RespRequestReader();
        var status = ParseStatus.Incomplete;
        RespRequest request = default;
        for (int end = 4096; status == ParseStatus.Incomplete; end += 4096)
        {
            status = reader.TryRead(bytes.AsSpan(0, Math.Min(end, bytes.Length)), out request, out _);
        }

        Assert.Equal(ParseStatus.Complete, status);
        Assert.Equal(count, request.ArgumentCount);
        Assert.Equal("9", Latin.Text(reader.GetArgument(bytes, request, count - 1)));
        Assert.Equal("PING", Read(reader, "PING\r\n"u8, out _));
    }

    [Fact]
    public void Reset_makes_the_reader_new()
    {
        var reader = new RespRequestReader();
        Read(reader, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n"u8, out _);

        reader.Reset();
        Assert.Equal("PING", Read(reader, "PING\r\n"u8, out _));

        Read(reader, "*x\r\n"u8, out _);
        reader.Reset();
        Assert.Equal("PING", Read(reader, "PING\r\n"u8, out _));
    }

    [Fact]
    public void Request_is_read_without_allocating()
    {
        var inputs = Requests.Select(row => Latin.Bytes((string)row[0])).ToArray();
        var reader = new RespRequestReader();
        ReadAll(reader, inputs);

        long before = GC.GetAllocatedBytesForCurrentThread();
        ReadAll(reader, inputs);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(0, allocated);
    }

    private static void ReadAll(RespRequestReader reader, byte[][] inputs)
    {
        foreach (var input in inputs)
        {
            reader.TryRead(input, out var request, out _);
            for (int i = 0; i < request.ArgumentCount; i++)
            {
                _ = reader.GetArgument(input, request, i).Length;
            }
        }
    }

    private static string Read(RespRequestReader reader, ReadOnlySpan<byte> input, out int consumed)
    {
        var status = reader.TryRead(input, out var request, out consumed);
        if (status == ParseStatus.Fatal)
        {
            Span<byte> text = stackalloc byte[64];
            return $"Fatal {Latin.Text(text[..reader.FormatError(text)])}";
        }

        return status == ParseStatus.Complete ? Join(reader, input, request) : status.ToString();
    }

    private static string Join(RespRequestReader reader, ReadOnlySpan<byte> input, in RespRequest request)
    {
        var arguments = new string[request.ArgumentCount];
        for (int i = 0; i < arguments.Length; i++)
        {
            arguments[i] = Latin.Text(reader.GetArgument(input, request, i));
        }

        return string.Join('|', arguments);
    }
}
