namespace Cairn.Caching.Serialization;

// Computes bytes on the heap, by the object layout of the 64-bit runtime:
//
//   object   | header 8 | type 8 | fields ...              | rounded up to 8, at least 24
//   array    | header 8 | type 8 | length 4 | - 4 | elements |
//   string   | header 8 | type 8 | length 4 | characters and a final zero, 2 each |
internal static class ObjectSize
{
    /// <summary>The bytes of the header and the type of every object.</summary>
    public const long HeaderBytes = 16;

    private const long SmallestBytes = 24;
    private const long ArrayBytes = 24;
    private const long StringBytes = 22;

    // In a longer array of objects, this many elements are measured, and the others are assumed to be similar.
    private const int SampledElements = 64;

    /// <summary>Returns the bytes of a value with a known layout; false for other objects.</summary>
    public static bool TryGet<T>(T value, out long bytes)
    {
        if (typeof(T).IsValueType && !RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            bytes = Boxed(Unsafe.SizeOf<T>());
            return true;
        }

        return TryGetObject(value, out bytes);
    }

    public static long Align(long bytes) => (Math.Max(bytes, SmallestBytes) + 7) & ~7L;

    public static long Boxed(int bytes) => Align(HeaderBytes + bytes);

    public static long OfArray(long elementsBytes) => Align(ArrayBytes + elementsBytes);

    private static bool TryGetObject(object? value, out long bytes)
    {
        switch (value)
        {
            case null:
                bytes = 0;
                return true;
            case string text:
                bytes = Align(StringBytes + (2L * text.Length));
                return true;
            case Array { Rank: 1 } array:
                return TryGetArray(array, out bytes);
            case Uri uri:
                // The text, and an object with the parsed form.
                bytes = Align(StringBytes + (2L * uri.OriginalString.Length)) + Align(HeaderBytes + 40);
                return true;
            case Version:
                bytes = Align(HeaderBytes + (4 * sizeof(int)));
                return true;
            default:
                bytes = 0;
                return false;
        }
    }

    private static bool TryGetArray(Array array, out long bytes)
    {
        int elementBytes = array switch
        {
            byte[] or sbyte[] or bool[] => 1,
            short[] or ushort[] or char[] or Half[] => 2,
            int[] or uint[] or float[] or DateOnly[] => 4,
            long[] or ulong[] or double[] or DateTime[] or TimeSpan[] or TimeOnly[] => 8,
            decimal[] or Guid[] or DateTimeOffset[] or Int128[] or UInt128[] => 16,
            _ => 0,
        };
        bytes = OfArray((long)array.Length * elementBytes);
        if (elementBytes != 0)
        {
            return true;
        }

        if (array is not object?[] objects)
        {
            return false;
        }

        bytes = OfArray((long)objects.Length * IntPtr.Size);
        long sampled = 0;
        int samples = Math.Min(objects.Length, SampledElements);
        for (int at = 0; at < samples; at++)
        {
            object? element = objects[at];

            // One level only: nested elements are not followed, because an object that contains itself would cause an endless recursion.
            if (element is Array || !TryGetObject(element, out long elementsOwn))
            {
                return false;
            }

            sampled += elementsOwn;
        }

        bytes += samples == objects.Length ? sampled : (long)((double)sampled / samples * objects.Length);
        return true;
    }
}
