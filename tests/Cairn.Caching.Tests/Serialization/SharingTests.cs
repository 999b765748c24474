using System.ComponentModel;
using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The types of which many callers may share one object.</summary>
public sealed class SharingTests
{
    [Fact]
    public void Text_numbers_times_and_their_nullable_forms_are_shared()
    {
        AssertShared<string>(true);
        AssertShared<int>(true);
        AssertShared<decimal?>(true);
        AssertShared<Guid>(true);
        AssertShared<DateTimeOffset?>(true);
        AssertShared<TimeSpan>(true);
        AssertShared<DateOnly>(true);
        AssertShared<DayOfWeek>(true);
        AssertShared<DayOfWeek?>(true);
        AssertShared<Uri>(true);
        AssertShared<Version>(true);
    }

    [Fact]
    public void Struct_without_references_is_shared_because_every_caller_has_a_copy_anyway()
    {
        AssertShared<(int, long)>(true);
        AssertShared<MutableNumbers>(true);
        AssertShared<MutableNumbers?>(true);
        AssertShared<(int, string)>(false);
        AssertShared<ReadOnlyMemory<byte>>(false);
    }

    [Fact]
    public void Type_that_says_it_never_changes_is_shared_if_nothing_can_derive_from_it()
    {
        AssertShared<SealedImmutable>(true);
        AssertShared<StructImmutable>(true);
        AssertShared<StructImmutable?>(true);
        AssertShared<OpenImmutable>(false);
        AssertShared<BelowImmutable>(false);
        AssertShared<SealedMutable>(false);
    }

    [Fact]
    public void Other_objects_are_not_shared()
    {
        AssertShared<object>(false);
        AssertShared<byte[]>(false);
        AssertShared<List<string>>(false);
        AssertShared<SharingTests>(false);
    }

    [Fact]
    public void Options_name_further_types_or_all()
    {
        var some = new Codecs(new() { ShareableTypes = new HashSet<Type> { typeof(List<string>) } });
        var all = new Codecs(new() { ShareAllTypes = true });

        Assert.True(some.Of<List<string>>().IsShareable);
        Assert.False(some.Of<List<int>>().IsShareable);
        Assert.True(all.Of<List<int>>().IsShareable);
        Assert.True(all.Of<byte[]>().IsShareable);
    }

    private static void AssertShared<T>(bool expected) => Assert.Equal(expected, new Codecs(new()).Of<T>().IsShareable);

    private struct MutableNumbers
    {
        public int First { get; set; }
    }

    [ImmutableObject(true)]
    private sealed class SealedImmutable;

    [ImmutableObject(false)]
    private sealed class SealedMutable;

    [ImmutableObject(true)]
    private class OpenImmutable;

    private sealed class BelowImmutable : OpenImmutable;

    [ImmutableObject(true)]
    private readonly struct StructImmutable
    {
        public string? Text { get; init; }
    }
}
