using System.Diagnostics.CodeAnalysis;

// Namespaces of frameworks that something that ships refers to are nothing that these names could be taken for.
#pragma warning disable CA1724
namespace Cairn.ConventionTests;

/// <summary>One of each kind of member that the public API snapshot has to describe.</summary>
public class ApiExample
{
    public delegate int Reader<TState>(ReadOnlySpan<byte> value, TState state)
        where TState : allows ref struct;

    public enum Status : byte
    {
        None = 0,
        Stored = 1,
    }

    public bool TryGet(string key, ref int cursor, [NotNullWhen(true)] out byte[]? value, TimeSpan wait = default, uint flags = 0)
    {
        value = Hidden(key.Length + cursor) > wait.Ticks + flags ? [] : null;
        return value is not null;
    }

    protected virtual IReadOnlyList<string?> Names() => [];

    private static int Hidden(int value) => value;

    public readonly ref struct Key(ReadOnlySpan<byte> bytes)
    {
        public ReadOnlySpan<byte> Bytes { get; } = bytes;

        public static implicit operator Key(ReadOnlySpan<byte> bytes) => new(bytes);
    }

    public sealed record Options
    {
        public required string Path { get; init; }

        public string? Note { get; init; }
    }
}
