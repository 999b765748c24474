using System.Buffers;

namespace Cairn.Tests;

/// <summary>The operations that read one value.</summary>
public sealed class GetTests : StoreTest
{
    [Fact]
    public void Value_is_copied_to_the_beginning_of_the_destination()
    {
        Store.Set("book:42", "Dune"u8);
        var destination = new byte[8];

        Assert.True(Store.TryGet("book:42", destination, out int bytesWritten));

        Assert.Equal(4, bytesWritten);
        Assert.Equal("Dune\0\0\0\0"u8, destination);
    }

    [Fact]
    public void Destination_that_is_too_short_reports_the_length_needed()
    {
        Store.Set("book:42", "Dune"u8);

        Assert.False(Store.TryGet("book:42", new byte[3], out int bytesWritten));
        Assert.Equal(4, bytesWritten);
        Assert.False(Store.TryGet("book:42", [], out bytesWritten));
        Assert.Equal(4, bytesWritten);
        Assert.True(Store.TryGet("book:42", new byte[4], out bytesWritten));
        Assert.Equal(4, bytesWritten);
    }

    [Fact]
    public void Miss_reports_nothing()
    {
        Assert.False(Store.TryGet("book:42", new byte[8], out int bytesWritten));
        Assert.Equal(0, bytesWritten);
        Assert.False(Store.TryGet("book:42", new byte[8], out EntryInfo info));
        Assert.Equal(default, info);
        Assert.False(Store.TryGetInfo("book:42", out info));
        Assert.Equal(default, info);
        Assert.Null(Store.Get("book:42"));
        Assert.Null(Store.GetString("book:42"));
        Assert.Null(Store.OpenRead("book:42"));
        Assert.False(Store.Contains("book:42"));
        Assert.False(Store.TryPin("book:42", out PinnedValue? pinned));
        Assert.Null(pinned);
        Assert.False(Store.Read("book:42", 0, (_, _, _) => Assert.Fail("There is no value to read.")));
    }

    [Fact]
    public void Empty_value_is_a_value()
    {
        Store.Set("empty", []);

        Assert.True(Store.TryGet("empty", [], out int bytesWritten));
        Assert.Equal(0, bytesWritten);
        Assert.Equal([], Store.Get("empty")!);
        Assert.Equal("", Store.GetString("empty"));
        Assert.True(Store.Contains("empty"));
        using Stream? stream = Store.OpenRead("empty");
        Assert.Equal(0, stream!.Length);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(511)]
    [InlineData(512)]
    [InlineData(513)]
    [InlineData(200_000)]
    [InlineData(300_000)]
    [InlineData(1 << 20)]
    public void Every_way_of_reading_gives_the_same_value(int length)
    {
        byte[] value = TestBytes.Of(length);
        Store.Set("key", value, flags: 7);
        var destination = new byte[length];
        var writer = new ArrayBufferWriter<byte>();
        byte[] visited = [];

        Assert.True(Store.TryGet("key", destination, out EntryInfo info));
        Assert.True(Store.TryGet("key", writer, out EntryInfo writtenInfo));
        Assert.True(Store.Read("key", 0, (bytes, _, _) => visited = bytes.ToArray()));
        Assert.True(Store.TryPin("key", out PinnedValue? pinned));
        using (pinned)
        {
            Assert.Equal(value, pinned.Value.ToArray());
            Assert.Equal(info, pinned.Info);
        }

        Assert.Equal(value, destination);
        Assert.Equal(value, writer.WrittenSpan.ToArray());
        Assert.Equal(value, visited);
        Assert.Equal(value, Store.Get("key"));
        Assert.Equal(info, writtenInfo);
        Assert.Equal(length, info.ValueBytes);
        Assert.Equal(7u, info.Flags);
        Assert.Equal(EntryType.Value, info.Type);
        using var copy = new MemoryStream();
        using Stream stream = Store.OpenRead("key")!;
        stream.CopyTo(copy);
        Assert.Equal(value, copy.ToArray());
    }

    [Fact]
    public void Buffer_writer_gets_value_after_value_and_nothing_for_a_miss()
    {
        Store.Set("a", "one"u8);
        Store.Set("b", TestBytes.Of(1000));
        var writer = new ArrayBufferWriter<byte>(16);

        Assert.True(Store.TryGet("a", writer));
        Assert.False(Store.TryGet("missing", writer));
        Assert.True(Store.TryGet("b", writer));

        Assert.Equal([.. "one"u8, .. TestBytes.Of(1000)], writer.WrittenSpan.ToArray());
    }

    [Fact]
    public void Text_is_read_as_utf_8_however_long_it_is()
    {
        string text = new('é', 5000);
        Store.Set("text", System.Text.Encoding.UTF8.GetBytes(text));
        Store.Set("not text", [0x41, 0xFF]);

        Assert.Equal(text, Store.GetString("text"));
        Assert.Equal("A\uFFFD", Store.GetString("not text"));
    }

    [Fact]
    public void Info_is_known_without_reading_the_value()
    {
        Store.Set("key", TestBytes.Of(1234), TimeSpan.FromMinutes(5), flags: 0xFFFF_FFFF);

        Assert.True(Store.TryGetInfo("key", out EntryInfo info));

        Assert.Equal(1234, info.ValueBytes);
        Assert.Equal(0xFFFF_FFFF, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromMinutes(5), info.ExpiresAt);
        Assert.Null(info.SlidingInterval);
        Assert.NotEqual(0ul, info.Version);
    }

    [Fact]
    public void Reader_is_called_with_the_state_that_was_passed()
    {
        Store.Set("key", "value"u8, flags: 3);
        var seen = new List<string>();

        Store.Read("key", seen, static (value, info, list) => list.Add($"{value.Length} {info.Flags}"));

        Assert.Equal(["5 3"], seen);
    }

    [Fact]
    public void Exception_of_a_reader_leaves_no_pin_behind()
    {
        Store.Set("key", "value"u8);

        for (int i = 0; i < 100; i++)
        {
            Assert.Throws<FormatException>(() => Store.Read("key", 0, (_, _, _) => throw new FormatException()));
        }

        Assert.True(Store.TryPin("key", out PinnedValue? pinned));
        pinned.Dispose();
    }

    [Fact]
    public void Missing_arguments_are_refused()
    {
        Assert.Throws<ArgumentNullException>(() => Store.TryGet("key", (IBufferWriter<byte>)null!));
        Assert.Throws<ArgumentNullException>(() => Store.Read("key", 0, null!));
        Assert.Throws<ArgumentNullException>(() => Store.Set("key", null!, 1));
    }

    [Fact]
    public void Value_can_be_read_and_given_a_new_expiration_in_one_call()
    {
        Store.Set("key", "value"u8, TimeSpan.FromSeconds(10));
        var destination = new byte[5];

        Assert.True(Store.TryGetAndTouch("key", TimeSpan.FromSeconds(60), destination, out EntryInfo info));
        Assert.False(Store.TryGetAndTouch("missing", TimeSpan.FromSeconds(60), destination, out _));

        Assert.Equal("value"u8, destination);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
        Store.TryGetInfo("key", out EntryInfo touched);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(60), touched.ExpiresAt);
    }

    [Fact]
    public void Only_the_value_that_was_read_is_touched()
    {
        var clock = new ScriptedClock();
        CairnStore store = Open(Options with { TimeProvider = clock });
        store.Set("key", "old"u8);
        var destination = new byte[8];
        clock.AtNextLook(() => store.Set("key", "newer"u8));

        Assert.True(store.TryGetAndTouch("key", TimeSpan.FromHours(1), destination, out EntryInfo info));

        Assert.Equal("newer"u8, destination.AsSpan(0, info.ValueBytes));
        store.TryGetInfo("key", out info);
        Assert.NotNull(info.ExpiresAt);
    }

    [Fact]
    public void Expiration_is_changed_also_if_the_destination_is_too_short()
    {
        Store.Set("key", "value"u8, TimeSpan.FromSeconds(10));

        Assert.False(Store.TryGetAndTouch("key", Expiration.None, new byte[4], out EntryInfo info));

        Assert.Equal(5, info.ValueBytes);
        Store.TryGetInfo("key", out EntryInfo touched);
        Assert.Null(touched.ExpiresAt);
    }
}
