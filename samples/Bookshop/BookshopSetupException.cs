namespace Bookshop;

/// <summary>Something is missing or wrong outside of the program; the message says what, and what to do.</summary>
internal sealed class BookshopSetupException(string message, Exception? cause = null) : Exception(message, cause);
