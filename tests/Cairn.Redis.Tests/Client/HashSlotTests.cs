using System.Text;
using Cairn.Redis.Cluster;

namespace Cairn.Redis.Tests.Client;

/// <summary>Slots are those of the Cluster specification.</summary>
public sealed class HashSlotTests
{
    [Theory]
    [InlineData("123456789", 0x31C3)] // The example of the specification. CRC-16/XMODEM.
    [InlineData("foo", 12182)]
    [InlineData("{foo}bar", 12182)]
    [InlineData("bar{foo}{bar}", 12182)]
    [InlineData("", 0)]
    public void Slot_is_the_crc_of_the_tag(string key, int expected) =>
        Assert.Equal(expected % HashSlot.Count, HashSlot.Of(Encoding.UTF8.GetBytes(key)));

    [Theory]
    [InlineData("plain")]
    [InlineData("with{tag}in it")]
    [InlineData("{}empty tag")]
    [InlineData("open{only")]
    [InlineData("closed}only")]
    [InlineData("}{")]
    [InlineData("")]
    [InlineData("Übung}{")]
    public void Companion_of_a_key_belongs_to_its_slot(string key)
    {
        string companion = HashSlot.Companion("lease:", key);

        Assert.Equal(HashSlot.Of(Encoding.UTF8.GetBytes(key)), HashSlot.Of(Encoding.UTF8.GetBytes(companion)));
        Assert.StartsWith("lease:", companion, StringComparison.Ordinal);
        Assert.NotEqual(companion, HashSlot.Companion("lease:", key + "x"));
    }

    [Fact]
    public void Key_of_a_command_is_found()
    {
        Assert.Equal(1, CommandKeys.FirstKey(["get", "key"]));
        Assert.Equal(-1, CommandKeys.FirstKey(["PING"]));
        Assert.Equal(-1, CommandKeys.FirstKey(["config", "get", "x"]));
        Assert.Equal(3, CommandKeys.FirstKey(["EVAL", "return 1", 1, "key"]));
        Assert.Equal(-1, CommandKeys.FirstKey(["EVAL", "return 1", 0, "no key"]));
        Assert.Equal(2, CommandKeys.FirstKey(["OBJECT", "ENCODING", "key"]));
    }
}
