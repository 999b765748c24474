namespace Cairn.ConventionTests;

/// <summary>The snapshot tells apart what callers can tell apart.</summary>
public class ApiDescriptionTests
{
    private static readonly IReadOnlyList<string> Lines = ApiDescription.Of(typeof(ApiDescriptionTests).Assembly);

    [Theory]
    [InlineData("public sealed record Cairn.ConventionTests.ApiExample.Options : IEquatable<Cairn.ConventionTests.ApiExample.Options>")]
    [InlineData("    public required string Path { get; init; }")]
    [InlineData("    public string? Note { get; init; }")]
    [InlineData("public readonly ref struct Cairn.ConventionTests.ApiExample.Key")]
    [InlineData("    public static Cairn.ConventionTests.ApiExample.Key op_Implicit(ReadOnlySpan<byte> bytes)")]
    [InlineData("public enum Cairn.ConventionTests.ApiExample.Status : byte")]
    [InlineData("    Stored = 1")]
    [InlineData("public delegate int Cairn.ConventionTests.ApiExample.Reader<TState>(ReadOnlySpan<byte> value, TState state) where TState : allows ref struct")]
    [InlineData("    public bool TryGet(string key, ref int cursor, [NotNullWhen(true)] out byte[]? value, TimeSpan wait = default, uint flags = 0)")]
    [InlineData("    protected virtual IReadOnlyList<string?> Names()")]
    public void Line_stands_in_the_description(string line)
    {
        Assert.True(Lines.Contains(line), string.Join('\n', Lines));
    }

    [Theory]
    [InlineData("Hidden")]
    [InlineData("PrintMembers")]
    [InlineData("EqualityContract")]
    public void Word_of_what_callers_cannot_name_stands_nowhere(string word)
    {
        Assert.DoesNotContain(Lines, line => line.Contains($" {word}", StringComparison.Ordinal));
    }
}
