namespace Cairn.Protocol;

public class RespReplyTests
{
    public static TheoryData<string, string> Replies => new()
    {
        { "+OK\r\n", "SimpleString OK" },
        { "+\r\n", "SimpleString " },
        { "-ERR no\r\n", "Error ERR no" },
        { ":0\r\n", "Integer 0" },
        { ":+5\r\n", "Integer 5" },
        { ":-9223372036854775808\r\n", "Integer -9223372036854775808" },
        { "$5\r\nhello\r\n", "BulkString hello" },
        { "$0\r\n\r\n", "BulkString " },
        { "$4\r\n\r\n\r\n\r\n", "BulkString \r\n\r\n" },
        { "$-1\r\n", "Null" },
        { "*-1\r\n", "Null" },
        { "_\r\n", "Null" },
        { "*0\r\n", "Array[]" },
        { "*2\r\n:1\r\n$1\r\na\r\n", "Array[Integer 1, BulkString a]" },
        { "*2\r\n*1\r\n:1\r\n*2\r\n+a\r\n*0\r\n", "Array[Array[Integer 1], Array[SimpleString a, Array[]]]" },
        { "%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n", "Map[SimpleString a, Integer 1, SimpleString b, Array[Null]]" },
        { "%0\r\n", "Map[]" },
        { "~1\r\n+a\r\n", "Set[SimpleString a]" },
        { ">2\r\n+invalidate\r\n*1\r\n$1\r\na\r\n", "Push[SimpleString invalidate, Array[BulkString a]]" },
        { "#t\r\n", "Boolean true" },
        { "#f\r\n", "Boolean false" },
        { ",1.5\r\n", "Double 1.5" },
        { ",-1e-7\r\n", "Double -1E-07" },
        { ",inf\r\n", "Double Infinity" },
        { ",-inf\r\n", "Double -Infinity" },
        { ",nan\r\n", "Double NaN" },
        { "(123456789012345678901234567890\r\n", "BigNumber 123456789012345678901234567890" },
        { "(-1\r\n", "BigNumber -1" },
        { "!6\r\nERR no\r\n", "BulkError ERR no" },
        { "=8\r\ntxt:text\r\n", "VerbatimString txt text" },
        { "=4\r\nmkd:\r\n", "VerbatimString mkd " },
        { "|1\r\n+ttl\r\n:60\r\n$1\r\na\r\n", "Attribute[SimpleString ttl, Integer 60] BulkString a" },
        { "*2\r\n|1\r\n+k\r\n*1\r\n:1\r\n:2\r\n:3\r\n", "Array[Attribute[SimpleString k, Array[Integer 1]] Integer 2, Integer 3]" },
        { "|0\r\n|1\r\n+a\r\n+b\r\n*1\r\n:1\r\n", "Attribute[] Attribute[SimpleString a, SimpleString b] Array[Integer 1]" },
    };

    public static TheoryData<string> Broken =>
    [
        "x\r\n", "\r\n", "PING\r\n", "+a\n", "+a\rb\r\n", ":\r\n", ":x\r\n", ":1x\r\n", ":9223372036854775808\r\n", "$x\r\n", "$-2\r\n", "$05\r\n",
        "$1\r\nab\r\n", "$1\r\na\n\n", "*-2\r\n", "*x\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n", "|-1\r\n", "!-1\r\n", "=-1\r\n", "=3\r\ntxt\r\n",
        "=5\r\ntxt-a\r\n", "_x\r\n", "#\r\n", "#x\r\n", "#tt\r\n", ",\r\n", ",x\r\n", ",1.5.5\r\n", ", 1\r\n", "(\r\n", "(-\r\n", "(1.5\r\n", "$536870913\r\n",
        "*2147483648\r\n", "*?\r\n", "$?\r\n", "*2\r\n:1\r\nx\r\n", "*1\r\n*1\r\n*1\r\n:x\r\n",
    ];

    [Theory]
    [MemberData(nameof(Replies))]
    public void Reply_ends_where_it_ends_and_has_its_elements(string input, string expected)
    {
        var bytes = Latin.Bytes(input + "+next\r\n");

        Assert.Equal(ParseStatus.Complete, new RespReplyScanner().TryScan(bytes, out int length));
        Assert.Equal(input.Length, length);
        Assert.Equal(expected, RespText.Of(bytes.AsSpan(0, length)));
    }

    [Theory]
    [MemberData(nameof(Replies))]
    public void Reply_cut_anywhere_is_incomplete_and_then_found_as_in_one_piece(string input, string expected)
    {
        var bytes = Latin.Bytes(input);
        for (int cut = 0; cut < bytes.Length; cut++)
        {
            var scanner = new RespReplyScanner();

            Assert.Equal(ParseStatus.Incomplete, scanner.TryScan(bytes.AsSpan(0, cut), out int length));
            Assert.Equal(0, length);
            Assert.InRange(scanner.NeededBytes, cut + 1, bytes.Length);
            Assert.Equal(ParseStatus.Complete, scanner.TryScan(bytes, out length));
            Assert.Equal(bytes.Length, length);
            Assert.Equal(expected, RespText.Of(bytes));
        }
    }

    [Theory]
    [MemberData(nameof(Broken))]
    public void Broken_reply_is_fatal_for_good(string input)
    {
        var scanner = new RespReplyScanner();

        Assert.Equal(ParseStatus.Fatal, scanner.TryScan(Latin.Bytes(input), out _));
        Assert.Equal(ParseStatus.Fatal, scanner.TryScan("+OK\r\n"u8, out _));

        scanner.Reset();
        Assert.Equal(ParseStatus.Complete, scanner.TryScan("+OK\r\n"u8, out _));
    }

    [Fact]
    public void Replies_follow_each_other()
    {
        var input = Latin.Bytes("+OK\r\n*1\r\n:1\r\n$-1\r\n");
        var scanner = new RespReplyScanner();
        var found = new List<string>();
        int position = 0;

        while (scanner.TryScan(input.AsSpan(position), out int length) == ParseStatus.Complete)
        {
            found.Add(RespText.Of(input.AsSpan(position, length)));
            position += length;
        }

        Assert.Equal(["SimpleString OK", "Array[Integer 1]", "Null"], found);
        Assert.Equal(input.Length, position);
    }

    [Fact]
    public void Elements_are_nested_no_deeper_than_the_caller_allows()
    {
        var limits = new RespReplyLimits { MaxDepth = 3 };

        Assert.Equal(ParseStatus.Complete, new RespReplyScanner(limits).TryScan("*1\r\n*1\r\n*1\r\n*0\r\n"u8, out _));
        Assert.Equal(ParseStatus.Fatal, new RespReplyScanner(limits).TryScan("*1\r\n*1\r\n*1\r\n*1\r\n"u8, out _));
        Assert.Equal(ParseStatus.Fatal, new RespReplyScanner(limits).TryScan("|1\r\n|1\r\n|1\r\n|1\r\n"u8, out _));
    }

    [Fact]
    public void Limits_are_the_callers()
    {
        var limits = new RespReplyLimits { MaxBulkBytes = 10, MaxLineBytes = 12, MaxReplyBytes = 30 };

        Assert.Equal(ParseStatus.Complete, new RespReplyScanner(limits).TryScan("$10\r\n1234567890\r\n"u8, out _));
        Assert.Equal(ParseStatus.Fatal, new RespReplyScanner(limits).TryScan("$11\r\n"u8, out _));
        Assert.Equal(ParseStatus.Complete, new RespReplyScanner(limits).TryScan("+123456789012\r\n"u8, out _));
        Assert.Equal(ParseStatus.Fatal, new RespReplyScanner(limits).TryScan("+1234567890123\r\n"u8, out _));
        Assert.Equal(ParseStatus.Fatal, new RespReplyScanner(limits).TryScan("+1234567890123"u8, out _));
        Assert.Equal(ParseStatus.Fatal, new RespReplyScanner(limits).TryScan("*2\r\n$10\r\n1234567890\r\n$10\r\n"u8, out _));
        Assert.Throws<ArgumentOutOfRangeException>(() => new RespReplyScanner(new RespReplyLimits { MaxDepth = 0 }));
    }

    [Fact]
    public void Long_string_says_how_many_bytes_it_needs()
    {
        var scanner = new RespReplyScanner();

        scanner.TryScan("*2\r\n:1\r\n$1048576\r\nxyz"u8, out _);

        Assert.Equal(18 + 1048576 + 2, scanner.NeededBytes);
    }

    [Fact]
    public void Elements_within_an_element_can_be_skipped()
    {
        var reader = new RespReplyReader("*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n%1\r\n+a\r\n|1\r\n+b\r\n+c\r\n:3\r\n:4\r\n"u8);
        reader.Read();

        reader.Read();
        reader.Skip();
        reader.Read();
        Assert.Equal(RespType.Map, reader.Type);
        reader.Skip();
        reader.Read();
        reader.Skip();

        Assert.True(reader.TryGetInt64(out long last));
        Assert.Equal(4, last);
        Assert.False(reader.Read());
    }

    [Fact]
    public void Number_in_a_string_is_a_number_for_a_caller_that_requests_one()
    {
        var reader = new RespReplyReader("$2\r\n42\r\n$3\r\n1.5\r\n+x\r\n:7\r\n"u8);

        reader.Read();
        Assert.True(reader.TryGetInt64(out long number));
        Assert.Equal(42, number);

        reader.Read();
        Assert.False(reader.TryGetInt64(out _));
        Assert.True(reader.TryGetDouble(out double value));
        Assert.Equal(1.5, value);

        reader.Read();
        Assert.False(reader.TryGetInt64(out _));
        Assert.False(reader.TryGetDouble(out _));

        reader.Read();
        Assert.True(reader.TryGetDouble(out value));
        Assert.Equal(7, value);
    }

    [Fact]
    public void Error_is_known_as_one_in_both_forms()
    {
        var reader = new RespReplyReader("-ERR a\r\n!5\r\nERR b\r\n+c\r\n"u8);

        reader.Read();
        Assert.True(reader.IsError);
        reader.Read();
        Assert.True(reader.IsError);
        reader.Read();
        Assert.False(reader.IsError);
    }
}
