using System.ComponentModel;
using System.Globalization;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>A value that nobody can change and that says so: all readers may have the same object.</summary>
[ImmutableObject(true)]
internal sealed class Customer(int number, string name)
{
    public int Number { get; } = number;

    public string Name { get; } = name;
}

/// <summary>A value that its readers could change: each has to get a copy of its own.</summary>
internal sealed class MutableCustomer
{
    public int Number { get; set; }

    public string Name { get; set; } = string.Empty;
}

/// <summary>What the caches hold.</summary>
internal static class CustomerValues
{
    public static string Text(int number) =>
        string.Create(CultureInfo.InvariantCulture, $"name of customer {number:D10}").PadRight(HybridScale.ValueChars, '.');

    public static Customer Shareable(int number) => new(number, Text(number));

    public static MutableCustomer Mutable(int number) => new() { Number = number, Name = Text(number) };
}
