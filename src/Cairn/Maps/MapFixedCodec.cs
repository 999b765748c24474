namespace Cairn.Maps;

/// <summary>The codec of a type that has a fixed format.</summary>
internal sealed unsafe class MapFixedCodec<T> : MapCodec<T>
{
    public override string FormatId => "fixed";

    public override ReadOnlySpan<byte> Write(T value, Span<byte> scratch, scoped ref PooledWriter? writer)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(scratch.Length, FixedFormat.SizeOf<T>());
        fixed (byte* target = scratch)
        {
            FixedFormat.Write(value, target);
        }

        return scratch[..FixedFormat.SizeOf<T>()];
    }

    public override T Read(ReadOnlySpan<byte> source)
    {
        if (source.Length != FixedFormat.SizeOf<T>())
        {
            ThrowLength(source.Length);
        }

        fixed (byte* bytes = source)
        {
            return FixedFormat.Read<T>(bytes);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowLength(int length) => throw new InvalidDataException(
        $"A {typeof(T)} has {FixedFormat.SizeOf<T>()} bytes in a map; this one has {length}. It was not written by the map.");
}
