using System.Text.Json;

namespace Cairn.Maps;

/// <summary>Chooses the codec of a type: the application's serializer, a built-in format, or JSON.</summary>
internal static class MapCodecs
{
    public static MapCodec<T> For<T>(IMapSerializer<T>? serializer, JsonSerializerOptions? options)
    {
        if (serializer is not null)
        {
            return new CustomCodec<T>(serializer);
        }

        if (FixedFormat.SizeOf<T>() != 0)
        {
            return new MapFixedCodec<T>();
        }

        if (typeof(T) == typeof(string))
        {
            return (MapCodec<T>)(object)new MapTextCodec();
        }

        return typeof(T) == typeof(byte[]) ? (MapCodec<T>)(object)new MapBytesCodec() : new MapJsonCodec<T>(options);
    }
}
