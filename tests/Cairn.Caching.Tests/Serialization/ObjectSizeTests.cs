using Cairn.Caching.Serialization;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The estimated sizes of objects on the heap, compared with the runtime's allocations.</summary>
public sealed class ObjectSizeTests : SerializationTest
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(1000)]
    public void Text_and_arrays_of_numbers_are_exact(int length)
    {
        if (length > 0)
        {
            AssertExact(() => new string('a', length)); // There is only one empty string, which costs nothing.
        }

        AssertExact(() => new byte[length]);
        AssertExact(() => new short[length]);
        AssertExact(() => new char[length]);
        AssertExact(() => new int[length]);
        AssertExact(() => new float[length]);
        AssertExact(() => new long[length]);
        AssertExact(() => new DateTime[length]);
        AssertExact(() => new decimal[length]);
        AssertExact(() => new Guid[length]);
    }

    [Fact]
    public void Numbers_are_exact_as_the_objects_they_are_kept_as()
    {
        AssertExactBoxed(true);
        AssertExactBoxed((byte)1);
        AssertExactBoxed(1);
        AssertExactBoxed(1L);
        AssertExactBoxed(1m);
        AssertExactBoxed(Guid.Empty);
        AssertExactBoxed(DateTimeOffset.UnixEpoch);
        AssertExactBoxed((1L, 2L, 3));
    }

    [Fact]
    public void Arrays_of_text_count_their_elements()
    {
        AssertExact(() => new[] { new string('a', 3), new string('b', 30), null });

        // A large collection is sampled.
        string[] alike = [.. Enumerable.Range(0, 1000).Select(_ => new string('a', 10))];
        Assert.Equal(ObjectSize.OfArray(8 * 1000) + (1000 * Default.Of<string>().EstimateBytes(alike[0])), Default.Of<string[]>().EstimateBytes(alike));
    }

    [Fact]
    public void Other_objects_are_guessed_by_what_was_serialized_of_their_type()
    {
        var codecs = new Codecs(new());
        Codec<List<string>> codec = codecs.Of<List<string>>();
        long unknown = codec.EstimateBytes([]);

        Write(new List<string> { new('a', 1000) }, codecs);

        Assert.InRange(unknown, 64, 1024);
        Assert.InRange(codec.EstimateBytes([]), 2000, 2100);
    }

    private static void AssertExact<T>(Func<T> create)
        where T : class
    {
        create();
        long before = GC.GetAllocatedBytesForCurrentThread();
        T value = create();
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(allocated, Default.Of<T>().EstimateBytes(value));
    }

    private static void AssertExactBoxed<T>(T value)
        where T : struct
    {
        Box(value);
        long before = GC.GetAllocatedBytesForCurrentThread();
        object box = Box(value);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.NotNull(box);
        Assert.Equal(allocated, Default.Of<T>().EstimateBytes(value));
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static object Box<T>(T value)
        where T : struct => value;
}
