namespace Cairn.Cli.Tests;

/// <summary>The tool on encrypted stores: it reads keys and passwords from files, and changes them.</summary>
public sealed class EncryptionTests : ToolTest
{
    [Fact]
    public void Keys_are_read_from_files_as_bytes_and_as_digits()
    {
        string bytes = Write("key.bin", TestBytes.Of(32));
        string digits = Write("key.txt", Convert.ToHexString(TestBytes.Of(32)) + "\n");

        Assert.Equal(0, Run("create", "--capacity", "8MiB", "--key-file", bytes).Code);
        Assert.Equal(0, Run("set", "book:42", "Dune", "--key-file", digits).Code);

        Assert.Equal("Dune", Run("get", "book:42", "--key-file", bytes).Output);
        Assert.Equal("book:42\n", Run("keys", "--key-file", bytes).Output);
        Assert.Contains("\"value\":\"Dune\"", Run("export", "--key-file", bytes).Output, StringComparison.Ordinal);
        Assert.Equal(0, Run("verify").Code);
        Assert.Equal(0, Run("compact").Code);
    }

    [Fact]
    public void A_missing_or_wrong_key_is_reported()
    {
        string right = Write("right.key", TestBytes.Of(32, 1));
        string wrong = Write("wrong.key", TestBytes.Of(32, 2));
        Run("create", "--capacity", "8MiB", "--key-file", right);

        ToolRun none = Run("get", "book:42");
        ToolRun other = Run("get", "book:42", "--key-file", wrong);
        ToolRun notAKey = Run("get", "book:42", "--key-file", Write("short.key", "123"));
        ToolRun notThere = Run("get", "book:42", "--key-file", PathOf("nothing"));
        ToolRun both = Run("get", "book:42", "--key-file", right, "--password-file", right);

        Assert.Equal((ExitCode.Store, ExitCode.Store), (none.Code, other.Code));
        Assert.Contains("--key-file", none.Error, StringComparison.Ordinal);
        Assert.Contains("not the one of the store", other.Error, StringComparison.Ordinal);
        Assert.Equal((ExitCode.File, ExitCode.File, ExitCode.Usage), (notAKey.Code, notThere.Code, both.Code));
    }

    [Fact]
    public void A_password_comes_from_a_file_or_from_the_environment()
    {
        TestConsole console = NewConsole();
        console.Environment["CAIRN_PASSWORD"] = "the right one";
        Assert.Equal(0, Run(console, "create", "--capacity", "8MiB").Code);

        Assert.Equal(0, Run("set", "book:42", "Dune", "--password-file", Write("password", "the right one\nsecond line\n")).Code);
        Assert.Equal(ExitCode.Store, Run("get", "book:42", "--password-file", Write("other", "another one\n")).Code);
        Assert.Equal(ExitCode.File, Run("get", "book:42", "--password-file", Write("empty", "\n")).Code);
    }

    [Fact]
    public void Rekeying_changes_encrypts_and_decrypts()
    {
        string first = Write("first.key", TestBytes.Of(32, 1));
        string second = Write("second.key", TestBytes.Of(32, 2));
        Run("create", "--capacity", "8MiB");
        Run("set", "book:42", "Dune");

        ToolRun encrypted = Run("rekey", "--full", "--new-key-file", first, "--json");
        ToolRun changed = Run("rekey", "--key-file", first, "--new-key-file", second, "--json");
        string read = Run("get", "book:42", "--key-file", second).Output;
        ToolRun decrypted = Run("rekey", "--full", "--key-file", second, "--decrypt");

        Assert.Equal((0, 0, 0, "Dune"), (encrypted.Code, changed.Code, decrypted.Code, read));
        Assert.Equal(("key", 1L), (encrypted.Json.GetProperty("encryption").GetString(), encrypted.Json.GetProperty("entriesKept").GetInt64()));
        Assert.False(changed.Json.GetProperty("full").GetBoolean());
        Assert.Contains("not encrypted any more", decrypted.Output, StringComparison.Ordinal);
        Assert.Equal("Dune", Run("get", "book:42").Output);
    }

    [Fact]
    public void Rekeying_asks_for_what_it_needs()
    {
        string key = Write("key", TestBytes.Of(32));
        Run("create", "--capacity", "8MiB", "--key-file", key);

        Assert.Equal(ExitCode.Usage, Run("rekey", "--key-file", key).Code);
        Assert.Equal(ExitCode.Usage, Run("rekey", "--new-key-file", key).Code);
        Assert.Equal(ExitCode.Usage, Run("rekey", "--key-file", key, "--decrypt").Code);
        Assert.Equal(ExitCode.Usage, Run("rekey", "--key-file", key, "--new-key-file", key, "--new-password-file", key).Code);
    }

    [Fact]
    public void An_encrypted_store_is_not_served()
    {
        string key = Write("key", TestBytes.Of(32));
        Run("create", "--capacity", "8MiB", "--key-file", key);

        ToolRun without = Run("serve", "--memcached", "off", "--resp", $"unix:{PathOf("socket")}");
        ToolRun with = Run("serve", "--key-file", key);

        Assert.Equal((ExitCode.Store, ExitCode.Usage), (without.Code, with.Code));
        Assert.Contains("does not serve encrypted stores", without.Error, StringComparison.Ordinal);
    }

    private string Write(string name, byte[] bytes)
    {
        File.WriteAllBytes(PathOf(name), bytes);
        return PathOf(name);
    }

    private string Write(string name, string text)
    {
        File.WriteAllText(PathOf(name), text);
        return PathOf(name);
    }
}
